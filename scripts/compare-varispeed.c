// See compare-varispeed. A motor is asked for blocks of output, each at a rate of its own, and takes as much input as it
// needs. Where an output frame lies in the source is read off a sine and a cosine of 4,096 frames in two channels.
#include <math.h>
#include <samplerate.h>
#include <soxr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { block = 960, slew = 240, period = 4096, tones = 60, toneBlocks = 40, longBlocks = 300 * 50, most = 1 << 16 };
static const double sampleRate = 48000;

typedef enum { soxrVariable, soxrRestarted, sampleRateMedium, sampleRateBest } Kind;
static const char *names[] = {"soxr variable rate", "soxr VHQ restarted", "libsamplerate medium", "libsamplerate best"};

typedef struct {
    Kind kind;
    soxr_t soxr;
    SRC_STATE *src;
    double rate;      // of the block before
    double position;  // the integral of the commanded rate, source frames
    long taken;       // source frames that it has asked for
    void (*source)(long frame, float *two);
    float buffer[2 * most];
} Motor;

static void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "compare-varispeed: %s\n", what);
    exit(1);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t pullSoxr(void *context, soxr_in_t *data, size_t wanted) {
    Motor *m = context;
    if (wanted > 64) wanted = 64;
    for (size_t i = 0; i < wanted; i++) m->source(m->taken++, m->buffer + 2 * i);
    *data = m->buffer;
    return wanted;
}

static long pullSampleRate(void *context, float **data) {
    Motor *m = context;
    for (size_t i = 0; i < 64; i++) m->source(m->taken++, m->buffer + 2 * i);
    *data = m->buffer;
    return 64;
}

static Motor *start(Kind kind, double rate, void (*source)(long, float *)) {
    Motor *m = calloc(1, sizeof *m);
    *m = (Motor){.kind = kind, .rate = rate, .source = source};
    int error = 0;
    if (kind == soxrVariable) {
        soxr_quality_spec_t quality = soxr_quality_spec(SOXR_VHQ, SOXR_VR);
        m->soxr = soxr_create(2, 1, 2, NULL, NULL, &quality, NULL);
        require(m->soxr && !soxr_set_io_ratio(m->soxr, rate, 0), "soxr_create failed");
        soxr_set_input_fn(m->soxr, pullSoxr, m, 64);
    } else if (kind >= sampleRateMedium) {
        int quality = kind == sampleRateBest ? SRC_SINC_BEST_QUALITY : SRC_SINC_MEDIUM_QUALITY;
        m->src = src_callback_new(pullSampleRate, quality, 2, &error, m);
        require(m->src && !src_set_ratio(m->src, 1 / rate), "src_callback_new failed");
    }
    return m;
}

static void stop(Motor *m) {
    if (m->soxr) soxr_delete(m->soxr);
    if (m->src) src_delete(m->src);
    free(m);
}

// One block from `position` on by a fixed resampler that begins 384 frames early, as a segment of a file does.
static void restarted(Motor *m, double rate, double position, float *out, int count) {
    static float in[2 * most], made[2 * most];
    soxr_quality_spec_t quality = soxr_quality_spec(SOXR_VHQ, SOXR_HI_PREC_CLOCK);
    soxr_t soxr = soxr_create(rate, 1, 2, NULL, NULL, &quality, NULL);
    int early = (int)ceil(384 / rate);
    long first = lround(position - early * rate);  // it can begin on whole frames only
    int needed = (int)((count + 2 * early) * rate) + 2;
    for (int i = 0; i < needed; i++) m->source(first + i, in + 2 * i);
    size_t done = 0, rest = 0;
    soxr_process(soxr, in, (size_t)needed, NULL, made, most, &done);
    soxr_process(soxr, NULL, 0, NULL, made + 2 * done, most - done, &rest);
    memcpy(out, made + 2 * early, sizeof(float) * 2 * (size_t)count);
    soxr_delete(soxr);
    m->taken = first + needed;
}

// The next block at `rate`; the integral of the rate goes on with it, slewed where the library slews.
static void next(Motor *m, double rate, float *out) {
    if (m->kind == soxrVariable) {
        if (rate != m->rate) soxr_set_io_ratio(m->soxr, rate, slew);
        require(soxr_output(m->soxr, out, block) == block, "soxr_output fell short");
        m->position += block * rate + (m->rate - rate) * (slew + 1) / 2;
    } else if (m->kind == soxrRestarted) {
        restarted(m, rate, m->position, out, block);
        if (rate != m->rate) {
            static float old[2 * slew];
            restarted(m, m->rate, m->position, old, slew);
            for (int i = 0; i < 2 * slew; i++) {
                float gain = (float)(i / 2) / slew;
                out[i] = old[i] + gain * (out[i] - old[i]);
            }
        }
        m->position += block * rate;
    } else {
        // Without src_set_ratio the ratio moves linearly through the block that is asked for.
        require(src_callback_read(m->src, 1 / rate, block, out) == block, "src_callback_read fell short");
        for (int i = 1; i <= block; i++) m->position += 1 / (1 / m->rate + (1 / rate - 1 / m->rate) * i / block);
    }
    m->rate = rate;
}

static double frequency;
static void tone(long frame, float *two) {
    two[0] = two[1] = frame < 0 ? 0 : (float)sin(2 * M_PI * frequency / sampleRate * (double)frame);
}
static void quadrature(long frame, float *two) {
    double phase = 2 * M_PI * (double)(frame % period) / period;
    two[0] = (float)cos(phase), two[1] = (float)sin(phase);
}
static void noise(long frame, float *two) {
    uint64_t x = (uint64_t)(frame + 1) * 0x9E3779B97F4A7C15u;
    x ^= x >> 29, x *= 0xBF58476D1CE4E5B9u, x ^= x >> 32;
    two[0] = two[1] = frame < 0 ? 0 : (float)((double)(x >> 11) * 0x1p-53 - 0.5);
}

static double randomRate(void) { return 0.5 + 1.5 * rand() / RAND_MAX; }
static double decibels(double amplitude) { return 20 * log10(fmax(amplitude, 1e-12)); }

// Takes the least-squares sine of `omega` out of `y` and returns its phase.
static double removeTone(double *y, size_t n, double omega) {
    double cc = 0, ss = 0, cs = 0, cy = 0, sy = 0;
    for (size_t i = 0; i < n; i++) {
        double c = cos(omega * (double)i), s = sin(omega * (double)i);
        cc += c * c, ss += s * s, cs += c * s, cy += c * y[i], sy += s * y[i];
    }
    double det = cc * ss - cs * cs, a = (cy * ss - sy * cs) / det, b = (sy * cc - cy * cs) / det;
    for (size_t i = 0; i < n; i++) y[i] -= a * cos(omega * (double)i) + b * sin(omega * (double)i);
    return atan2(a, b);
}

static double y[block * toneBlocks];

static size_t steady(Kind kind, double rate, void (*source)(long, float *)) {
    static float out[2 * block];
    Motor *m = start(kind, rate, source);
    for (int b = 0; b < toneBlocks; b++) {
        next(m, rate, out);
        for (int i = 0; i < block; i++) y[b * block + i] = out[2 * i];
    }
    stop(m);
    return block * (toneBlocks - 8);
}

// What should not be there: beside a tone below 18 kHz, and of a tone above the output's half rate; the pitch.
static void measureTones(Kind kind, double rate, double *residue, double *alias, double *cents) {
    for (int t = 0; t < tones; t++) {
        frequency = (t + 0.37) / tones * sampleRate / 2;
        double out = frequency * rate, left = 0;
        if (out < sampleRate / 2 && out > 18000 * fmax(1, rate)) continue;
        if (frequency > 18000 && out < sampleRate / 2) continue;
        size_t n = steady(kind, rate, tone);
        double *from = y + 4 * block;
        if (out < sampleRate / 2) {
            double copy[2][4096];
            memcpy(copy[0], from, sizeof copy[0]), memcpy(copy[1], from + n - 4096, sizeof copy[1]);
            double omega = 2 * M_PI * out / sampleRate, first = removeTone(copy[0], 4096, omega);
            double moved = removeTone(copy[1], 4096, omega) - first - omega * (double)(n - 4096);
            moved -= 2 * M_PI * round(moved / (2 * M_PI));
            *cents = fmax(*cents, fabs(1200 * log2(1 + moved / (omega * (double)(n - 4096)))));
            removeTone(from, n, omega);
        }
        for (size_t i = 0; i < n; i++) left = fmax(left, fabs(from[i]));
        double *worst = out < sampleRate / 2 ? residue : alias;
        *worst = fmax(*worst, left);
    }
}

// Noise through the motor at a steady rate against the library's offline form, at the best whole shift.
static double measureOffline(Kind kind, double rate) {
    static float in[2 * block * toneBlocks], out[4 * block * toneBlocks];
    enum { frames = block * toneBlocks };
    for (int i = 0; i < frames; i++) {
        float two[2];
        noise(i, two);
        in[i] = two[0];
    }
    if (kind == soxrVariable || kind == soxrRestarted) {
        soxr_quality_spec_t quality = soxr_quality_spec(SOXR_VHQ, SOXR_HI_PREC_CLOCK);
        size_t done;
        soxr_oneshot(rate, 1, 1, in, frames, NULL, out, 2 * frames, &done, NULL, &quality, NULL);
    } else {
        SRC_DATA data = {.data_in = in, .data_out = out, .input_frames = frames, .output_frames = 2 * frames, .src_ratio = 1 / rate};
        src_simple(&data, kind == sampleRateBest ? SRC_SINC_BEST_QUALITY : SRC_SINC_MEDIUM_QUALITY, 1);
    }
    steady(kind, rate, noise);
    double best = 1;
    for (int shift = -300; shift <= 300; shift++) {
        double worst = 0;
        for (int i = 2000; i < 14000 && worst < best; i++) worst = fmax(worst, fabs(y[i] - (double)out[i + shift]));
        best = fmin(best, worst);
    }
    return best;
}

// The largest step on a sine of 1 kHz with 50 changes a second, over the largest that either rate makes by itself.
static double measureStep(Kind kind) {
    static float out[2 * block];
    frequency = 1000;
    srand(1);
    double before = 0, old = 1, worst = 0;
    Motor *m = start(kind, 1, tone);
    for (int b = 0; b < 500; b++) {
        double rate = randomRate();
        next(m, rate, out);
        double own = 2 * sin(M_PI * frequency * fmax(rate, old) / sampleRate);
        for (int i = 0; i < block; i++) {
            if (b > 4) worst = fmax(worst, fabs(out[2 * i] - before) / own);
            before = out[2 * i];
        }
        old = rate;
    }
    stop(m);
    return worst;
}

// How far the sound is from the integral of the rate in five minutes of random changes, beyond where it began, and how
// far ahead of the sound the motor reads.
static void measurePosition(Kind kind, double *error, double *ahead, double *speed) {
    static float out[2 * block];
    srand(2);
    Motor *m = start(kind, 1, quadrature);
    double begin = NAN, spent = 0;
    *error = *ahead = 0;
    int blocks = kind == soxrRestarted ? longBlocks / 30 : longBlocks;
    for (int b = 0; b < blocks; b++) {
        double rate = b < 10 ? 1 : randomRate(), at = m->position, clock = seconds();
        next(m, rate, out);
        spent += seconds() - clock;
        if (b < 9) continue;
        double off = atan2(out[1], out[0]) * period / (2 * M_PI) - at;
        off -= period * round(off / period);
        if (isnan(begin)) begin = off;
        double moved = off - begin;
        moved -= period * round(moved / period);
        *error = fmax(*error, fabs(moved));
        *ahead = fmax(*ahead, (double)m->taken - m->position - begin);
    }
    *speed = blocks * block / sampleRate / spent;
    stop(m);
}

int main(void) {
    printf("%s, %s; tones of amplitude 1, peaks in dB; a new rate from 0.5 to 2 every 20 ms\n\n", soxr_version(), src_get_version());
    printf("| motor | rate | residue below 18 kHz | alias above half the rate | against its offline form | pitch, cents |\n");
    printf("|---|---|---|---|---|---|\n");
    static const double rates[] = {0.5, 0.8, 1.25, 2};
    for (Kind k = soxrVariable; k <= sampleRateBest; k++) {
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
            double residue = 0, alias = 0, cents = 0;
            measureTones(k, rates[i], &residue, &alias, &cents);
            char text[32] = "none above it";
            if (rates[i] > 1) snprintf(text, sizeof text, "%.1f dB", decibels(alias));
            printf("| %s | %g | %.1f dB | %s | %.1f dB | %.5f |\n", names[k], rates[i], decibels(residue), text,
                   decibels(measureOffline(k, rates[i])), cents);
            fflush(stdout);
        }
    }
    printf("\n| motor | step at a change / the sine's own | off the integral of the rate | reads ahead | speed, stereo |\n|---|---|---|---|---|\n");
    for (Kind k = soxrVariable; k <= sampleRateBest; k++) {
        double error, ahead, speed, step = measureStep(k);
        measurePosition(k, &error, &ahead, &speed);
        printf("| %s | %.3f | %.2f frames | %.0f frames | %.0f x real time |\n", names[k], step, error, ahead, speed);
        fflush(stdout);
    }
    return 0;
}
