// See compare-resamplers. Every figure is taken from tones of amplitude 1, one at a time: the tone that belongs
// into the output is fitted by least squares (its gain is the ripple) and what is left over is the alias.
#include <math.h>
#include <samplerate.h>
#include <soxr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { inputFrames = 1 << 16, tones = 200, speedFrames = 1 << 20, restarts = 50 };

typedef struct {
    const char *name;
    bool isSoxr;
    int quality;
} Resampler;

typedef struct {
    int from, to;
} Conversion;

static const Resampler resamplers[] = {
    {"soxr HQ", true, SOXR_HQ},
    {"soxr VHQ", true, SOXR_VHQ},
    {"libsamplerate medium", false, SRC_SINC_MEDIUM_QUALITY},
    {"libsamplerate best", false, SRC_SINC_BEST_QUALITY},
};
static const Conversion conversions[] = {{44100, 48000}, {48000, 44100}, {96000, 48000}};

static void require(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "compare-resamplers: %s\n", what);
    exit(1);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static soxr_t createSoxr(Resampler r, Conversion c, int channels) {
    soxr_quality_spec_t quality = soxr_quality_spec((unsigned long)r.quality, 0);
    soxr_t soxr = soxr_create(c.from, c.to, (unsigned)channels, NULL, NULL, &quality, NULL);
    require(soxr != NULL, "soxr_create failed");
    return soxr;
}

// Converts all of `in` and returns how many frames came out.
static size_t convert(Resampler r, Conversion c, int channels, const float *in, size_t frames, float *out, size_t space) {
    if (r.isSoxr) {
        size_t done = 0, rest = 0;
        soxr_t soxr = createSoxr(r, c, channels);
        require(!soxr_process(soxr, in, frames, NULL, out, space, &done), "soxr_process failed");
        require(!soxr_process(soxr, NULL, 0, NULL, out + done * (size_t)channels, space - done, &rest), "soxr flush failed");
        soxr_delete(soxr);
        return done + rest;
    }
    SRC_DATA data = {.data_in = in, .data_out = out, .input_frames = (long)frames, .output_frames = (long)space,
                     .src_ratio = (double)c.to / c.from, .end_of_input = 1};
    require(!src_simple(&data, r.quality, channels), "src_simple failed");
    return (size_t)data.output_frames_gen;
}

// The least-squares amplitude of a sine of `omega` radians a frame in `y`, which is left without it.
static double removeTone(double *y, size_t n, double omega) {
    double cc = 0, ss = 0, cs = 0, cy = 0, sy = 0;
    for (size_t i = 0; i < n; i++) {
        double c = cos(omega * (double)i), s = sin(omega * (double)i);
        cc += c * c, ss += s * s, cs += c * s, cy += c * y[i], sy += s * y[i];
    }
    double det = cc * ss - cs * cs, a = (cy * ss - sy * cs) / det, b = (sy * cc - cy * cs) / det;
    for (size_t i = 0; i < n; i++) y[i] -= a * cos(omega * (double)i) + b * sin(omega * (double)i);
    return hypot(a, b);
}

static double decibels(double amplitude) { return 20 * log10(fmax(amplitude, 1e-12)); }

static double peak(const double *y, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(y[i]));
    return most;
}

int main(void) {
    static float in[2 * speedFrames], out[4 * speedFrames];
    static double y[4 * inputFrames];
    printf("%s, %s; tones of amplitude 1, peaks in dB; speed: stereo, one core\n\n", soxr_version(), src_get_version());
    printf("| conversion | resampler | residue below 20 kHz | residue, any tone | alias of tones above the output's half rate "
           "| ripple to 20 kHz | -3 dB at | million frames/s | restart |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof conversions / sizeof *conversions; k++) {
        Conversion c = conversions[k];
        for (size_t j = 0; j < sizeof resamplers / sizeof *resamplers; j++) {
            Resampler r = resamplers[j];
            double residue20k = 0, residue = 0, alias = 0, low = 1, high = 1, corner = 0;
            for (int t = 0; t < tones; t++) {
                double f = (t + 0.37) / tones * c.from / 2;
                for (size_t i = 0; i < inputFrames; i++) in[i] = (float)sin(2 * M_PI * f / c.from * (double)i);
                size_t n = convert(r, c, 1, in, inputFrames, out, 2 * inputFrames);
                size_t edge = 4096;  // the tone's own start and end are not the resampler's doing
                for (size_t i = edge; i < n - edge; i++) y[i - edge] = out[i];
                n -= 2 * edge;
                bool belongs = f < c.to / 2.0;
                double gain = belongs ? removeTone(y, n, 2 * M_PI * f / c.to) : 0, left = peak(y, n);
                if (!belongs) alias = fmax(alias, left);
                else residue = fmax(residue, left);
                if (f <= 20000) {
                    residue20k = fmax(residue20k, left);
                    low = fmin(low, gain), high = fmax(high, gain);
                }
                if (gain > sqrt(0.5)) corner = f;
            }
            for (size_t i = 0; i < 2 * speedFrames; i++) in[i] = (float)rand() / (float)RAND_MAX - 0.5f;
            double start = seconds();
            convert(r, c, 2, in, speedFrames, out, 2 * speedFrames);
            double speed = speedFrames / (seconds() - start) * 1e-6, restart = 0;
            if (r.isSoxr) {
                soxr_t soxr = createSoxr(r, c, 2);
                size_t done;
                start = seconds();
                for (int i = 0; i < restarts; i++) {
                    soxr_clear(soxr);
                    soxr_process(soxr, in, 64, NULL, out, 64, &done);
                }
                restart = (seconds() - start) / restarts;
                soxr_delete(soxr);
            } else {
                int error;
                SRC_STATE *src = src_new(r.quality, 2, &error);
                start = seconds();
                for (int i = 0; i < restarts; i++) src_reset(src);
                restart = (seconds() - start) / restarts;
                src_delete(src);
            }
            char aliasText[32] = "none above it";
            if (c.to < c.from) snprintf(aliasText, sizeof aliasText, "%.1f dB", decibels(alias));
            printf("| %d to %d | %s | %.1f dB | %.1f dB | %s | %+.4f to %+.4f dB | %.0f Hz | %.1f | %.0f µs |\n", c.from, c.to,
                   r.name, decibels(residue20k), decibels(residue), aliasText, decibels(low), decibels(high), corner, speed,
                   restart * 1e6);
            fflush(stdout);
        }
    }
    return 0;
}
