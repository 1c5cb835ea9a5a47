// The inner loops of a varispeed, in C since they take most of its time and a debug build of Swift has no vectors: there
// they would take a hundred times as long, and nothing could be played as a tape.
#ifndef CSTRETCHKERNELS_H
#define CSTRETCHKERNELS_H

#include <string.h>

typedef float stretch_vector __attribute__((vector_size(16)));

static inline stretch_vector stretch_load(const float *_Nonnull samples) {
    stretch_vector vector;
    memcpy(&vector, samples, sizeof vector);
    return vector;
}

/// The sum of the products of `count` samples and weights, a multiple of 8, always in the same order.
static inline float stretch_sum(const float *_Nonnull samples, const float *_Nonnull weights, long count) {
    stretch_vector even = {0}, odd = {0};
    for (long i = 0; i < count; i += 8) {
        even += stretch_load(samples + i) * stretch_load(weights + i);
        odd += stretch_load(samples + i + 4) * stretch_load(weights + i + 4);
    }
    stretch_vector total = even + odd;
    return (total[0] + total[2]) + (total[1] + total[3]);
}

/// Four rows of `count` weights, a multiple of 4, each by its factor, added up into `weights`. The rows follow each other.
static inline void stretch_mix_rows(
    const float *_Nonnull rows, const float *_Nonnull factors, float *_Nonnull weights, long count) {
    for (long i = 0; i < count; i += 4) {
        stretch_vector sum =
            (stretch_load(rows + i) * factors[0] + stretch_load(rows + count + i) * factors[1])
            + (stretch_load(rows + 2 * count + i) * factors[2] + stretch_load(rows + 3 * count + i) * factors[3]);
        memcpy(weights + i, &sum, sizeof sum);
    }
}

#endif
