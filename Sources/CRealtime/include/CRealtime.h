// What Backline vouches for on the audio thread.
//
// RT_SAFE tells the Swift compiler that a C function neither locks nor allocates, so that an `@_noLocks`
// function may call it. Every use is a promise that nobody checks: it belongs on the list in
// docs/realtime.md, and scripts/lint refuses one that is not there.
#pragma once

#define RT_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "Trampoline.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/// Floating-point modes for audio: results and operands that are denormal count as zero. Plug-ins change the
/// modes, so the callback sets them every time. Returns the modes that were set before.
static inline RT_SAFE uint64_t rt_enter_audio_float_mode(void) {
#if defined(__SSE__)
    unsigned int before = _mm_getcsr();
    _mm_setcsr(before | 0x8040u);  // FTZ (bit 15) and DAZ (bit 6): Intel SDM vol. 1, 10.2.3
    return before;
#elif defined(__aarch64__)
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(before | (1ull << 24)));  // FZ: Arm ARM, FPCR
    return before;
#else
    return 0;
#endif
}

/// Restores the modes that `rt_enter_audio_float_mode` returned.
static inline RT_SAFE void rt_leave_audio_float_mode(uint64_t before) {
#if defined(__SSE__)
    _mm_setcsr((unsigned int)before);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(before));
#else
    (void)before;
#endif
}

/// Asks for the cache line at `address`, to be read soon.
static inline RT_SAFE void rt_prefetch(const void *_Nonnull address) { __builtin_prefetch(address, 0, 3); }

/// The square root: one instruction.
static inline RT_SAFE float rt_square_root(float x) { return __builtin_elementwise_sqrt(x); }

/// Nanoseconds that the calling thread has had a processor. Never blocks: one system call.
static inline RT_SAFE int64_t rt_thread_cpu_nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/// Nanoseconds of the monotonic clock: read from the vDSO, without a system call.
static inline RT_SAFE int64_t rt_monotonic_nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/// Names the calling thread, for `top -H` and debuggers: up to 15 bytes of `name`. Not for the audio thread.
void name_thread(const char *_Nonnull name);

struct winsize;

/// The size of the terminal at `descriptor`; 0, or −1 where there is none. Not for the audio thread.
int terminal_size(int descriptor, struct winsize *_Nonnull size);
