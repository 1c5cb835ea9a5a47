// Preloaded by test-tsan: tells ThreadSanitizer's runtime of two things that it gets wrong by itself. It adds no more
// than that: no access is ignored that was not, and programs that are not instrumented pass through.
//
// 1. Threads that are cancelled. libjack ends its threads by pthread_cancel: the notification thread in `read`, the
//    process thread in a futex's wait. The runtime that comes with Swift ignores memory accesses while an interceptor
//    runs (ignore_interceptors_accesses and ignore_noninstrumented_modules are on, unlike in LLVM's own); the
//    interceptor of `read` begins that, is cancelled and never ends it, and a thread that ends so ends the process:
//    "finished with ignores enabled". So threads that ask for asynchronous cancellation, which libjack's alone do, are
//    cancelled in these two waits only, where it is known what the runtime has begun: below its interceptor of `read`,
//    which goes on to the `read` here, one ignore, which is ended; in `syscall`, which it does not intercept, none.
// 2. Mutexes that are waited for. The fast paths of Swift's `Mutex` are compiled into whoever uses it, and seen; the
//    slow ones are in libswiftSynchronization, which is not instrumented: without the ordering that they bring, what
//    a mutex guards seems to race as soon as two threads want it at once.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// The runtime's; absent where nothing is instrumented.
__attribute__((weak)) void AnnotateIgnoreReadsEnd(const char *file, int line);
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

/// Sets `function` to the one of that name behind the one here, once.
#define FIND_NEXT(function, name)                                                    \
    static __typeof__(&name) function##Found;                                        \
    __typeof__(&name) function = __atomic_load_n(&function##Found, __ATOMIC_RELAXED); \
    if (!function) {                                                                 \
        function = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                       \
        __atomic_store_n(&function##Found, function, __ATOMIC_RELAXED);              \
    }

// MARK: Threads that are cancelled

/// Whether this thread is cancelled in its waits only.
static _Thread_local bool isHeld;

static void setCancellation(int state, int type) {
    FIND_NEXT(setType, pthread_setcanceltype)
    FIND_NEXT(setState, pthread_setcancelstate)
    setType(type, NULL);
    setState(state, NULL);
}

int pthread_setcanceltype(int type, int *old) {
    FIND_NEXT(setType, pthread_setcanceltype)
    if (!AnnotateIgnoreReadsEnd || type != PTHREAD_CANCEL_ASYNCHRONOUS) return setType(type, old);
    isHeld = true;
    if (old) *old = PTHREAD_CANCEL_DEFERRED;
    setCancellation(PTHREAD_CANCEL_DISABLE, PTHREAD_CANCEL_DEFERRED);
    return 0;
}

static void endIgnore(void *unused) {
    (void)unused;
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

ssize_t read(int file, void *buffer, size_t size) {
    FIND_NEXT(next, read)
    if (!isHeld) return next(file, buffer, size);
    ssize_t result;
    pthread_cleanup_push(endIgnore, NULL);
    setCancellation(PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DEFERRED);
    result = next(file, buffer, size);
    setCancellation(PTHREAD_CANCEL_DISABLE, PTHREAD_CANCEL_DEFERRED);
    pthread_cleanup_pop(0);
    return result;
}

long syscall(long number, ...) {
    FIND_NEXT(next, syscall)
    // Six, as the C library takes them, however many there are.
    long argument[6];
    va_list arguments;
    va_start(arguments, number);
    for (int k = 0; k < 6; k++) argument[k] = va_arg(arguments, long);
    va_end(arguments);
    const bool isWait = isHeld && number == SYS_futex;
    if (isWait) setCancellation(PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_ASYNCHRONOUS);
    const long result = next(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
    if (isWait) setCancellation(PTHREAD_CANCEL_DISABLE, PTHREAD_CANCEL_DEFERRED);
    return result;
}

// MARK: Mutexes that are waited for

#define SWIFT_METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

// Synchronization._MutexHandle._lockSlow(_: UInt32) and ._unlockSlow(), by their mangled names.
SWIFT_METHOD void $s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF(uint32_t thread, SELF mutex);
SWIFT_METHOD void $s15Synchronization12_MutexHandleV11_unlockSlowyyF(SELF mutex);

SWIFT_METHOD void $s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF(uint32_t thread, SELF mutex) {
    FIND_NEXT(next, $s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF)
    next(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT_METHOD void $s15Synchronization12_MutexHandleV11_unlockSlowyyF(SELF mutex) {
    FIND_NEXT(next, $s15Synchronization12_MutexHandleV11_unlockSlowyyF)
    if (__tsan_release) __tsan_release(mutex);
    next(mutex);
}
