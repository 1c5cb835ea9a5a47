#include "Trampoline.h"

#include <sys/mman.h>

#if defined(__has_warning)
#if __has_warning("-Wfunction-effects")
#pragma clang diagnostic error "-Wfunction-effects"
#endif
#endif

/// Everything below this frame is nonblocking: RealtimeSanitizer watches from here on.
static int render(uint32_t frames, struct rt_entry *entry) RT_NONBLOCKING;

static int render(uint32_t frames, struct rt_entry *entry) RT_NONBLOCKING {
    return entry->render(frames, entry->context);
}

int rt_enter(uint32_t frames, void *context) {
    struct rt_entry *entry = context;
    if (entry->wait_for_streams && __atomic_load_n(entry->may_wait, __ATOMIC_ACQUIRE)) {
        entry->wait_for_streams(frames, entry->wait_context);
    }
    return render(frames, entry);
}

void rt_flag_set(uint32_t *flag, bool value) { __atomic_store_n(flag, value, __ATOMIC_RELEASE); }

void rt_prepare_stack(void) {
    enum { size = 128 * 1024, page = 4096 };
    volatile char stack[size];
    (void)mlock((const void *)stack, size);
    for (int i = 0; i < size; i += page) stack[i] = 0;
}
