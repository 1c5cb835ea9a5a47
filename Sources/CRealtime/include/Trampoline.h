// The way from a foreign audio thread into Backline's render code.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Marks a function, and a pointer to one, that neither blocks nor allocates: checked by clang 20 and later
/// (-Wfunction-effects), and where RealtimeSanitizer begins to watch.
#if defined(__has_attribute)
#if __has_attribute(nonblocking)
#define RT_NONBLOCKING __attribute__((nonblocking))
#endif
#endif
#ifndef RT_NONBLOCKING
#define RT_NONBLOCKING
#endif

/// What `rt_enter` runs. Outlives the audio thread, and does not move.
struct rt_entry {
    /// Renders one cycle.
    int (*_Nonnull render)(uint32_t frames, void *_Nonnull context) RT_NONBLOCKING;
    void *_Nonnull context;
    /// Blocks until the streams have what the next `frames` frames need. Called before `render`, outside all that
    /// is proved about it, and only while `may_wait` is set: in freewheel, where nobody listens.
    void (*_Nullable wait_for_streams)(uint32_t frames, void *_Nullable context);
    void *_Nullable wait_context;
    /// A flag that `rt_flag_set` sets from any thread.
    const uint32_t *_Nonnull may_wait;
};

/// The process callback: JACK's type, with an `rt_entry` as its context.
int rt_enter(uint32_t frames, void *_Nullable entry);

/// Sets a flag that the audio thread reads.
void rt_flag_set(uint32_t *_Nonnull flag, bool value);

/// Locks and touches the part of the calling thread's stack that a callback may need, 128 kB, so that it never
/// faults there. Where locking is not permitted it only touches.
void rt_prepare_stack(void);

/// Whether this was built with RealtimeSanitizer (scripts/test-rtsan): its controls run only then.
static inline bool rt_is_watched(void) {
#if defined(__has_feature)
#if __has_feature(realtime_sanitizer)
    return true;
#endif
#endif
    return false;
}
