// A control for JACK clients: two connected outputs, and a callback that burns a given CPU time, by a loop whose
// length is set once and then follows the mean slowly, so that what is taken from the processor in between shows
// in single callbacks as it does in any client's.
//
//     burn CLIENT-NAME NANOSECONDS      0: an empty client
//
// Each line on standard input prints what it did since the line before, as JSON; it ends with its input.
#include <jack/jack.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// As much memory as a thousand stereo stems have in use, walked as a mixer does: 512 bytes of each in every period.
enum { stems = 1000, floats_per_stem = 1 << 16, frames_walked = 64 };

static jack_port_t *outputs[2];
static float *memory;
static float bus[2 * frames_walked];
static double work;  // stems to mix in a callback
static int64_t target;
static size_t place, next_stem;
static _Atomic int64_t callbacks, cpu_total, cpu_maximum, over_half;
static double smoothed;

static int64_t clock_now(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void mix(size_t stem) {
    const float *source = memory + stem * floats_per_stem + place;
    for (int i = 0; i < 2 * frames_walked; ++i) bus[i] += source[i] * 0.5f;
}

static int process(jack_nframes_t frames, void *rate) {
    const int64_t before = clock_now(CLOCK_THREAD_CPUTIME_ID);
    float *left = jack_port_get_buffer(outputs[0], frames), *right = jack_port_get_buffer(outputs[1], frames);
    memset(bus, 0, sizeof bus);
    for (size_t n = (size_t)work; n > 0; --n) {
        mix(next_stem);
        next_stem = (next_stem + 1) % stems;
    }
    place = (place + 2 * frames_walked) % floats_per_stem;
    for (jack_nframes_t i = 0; i < frames; ++i) {
        left[i] = bus[2 * (i % frames_walked)];
        right[i] = bus[2 * (i % frames_walked) + 1];
    }
    const int64_t cpu = clock_now(CLOCK_THREAD_CPUTIME_ID) - before;
    if (target > 0) {
        // The mean of some 1,000 callbacks leads; one that lost its processor must not.
        smoothed += ((double)cpu - smoothed) / 1000;
        work *= 1 + 0.0003 * ((double)target - smoothed) / (double)target;
        if (work < 1) work = 1;
        if (work > 1e6) work = 1e6;
    }
    const int64_t period = frames * 1000000000LL / *(int64_t *)rate;
    atomic_fetch_add(&callbacks, 1);
    atomic_fetch_add(&cpu_total, cpu);
    if (cpu > atomic_load(&cpu_maximum)) atomic_store(&cpu_maximum, cpu);
    if (2 * cpu > period) atomic_fetch_add(&over_half, 1);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: burn CLIENT-NAME NANOSECONDS\n");
        return 2;
    }
    target = atoll(argv[2]);
    if (target > 0) {
        memory = malloc(sizeof(float) * stems * floats_per_stem);
        if (!memory) return 1;
        for (size_t i = 0; i < (size_t)stems * floats_per_stem; ++i) memory[i] = 1e-6f * (float)(i % 97);
        const int64_t before = clock_now(CLOCK_THREAD_CPUTIME_ID);
        for (int i = 0; i < 200 * stems; ++i) {
            if (i % stems == 0) place = (place + 2 * frames_walked) % floats_per_stem;
            mix((size_t)(i % stems));
        }
        work = (double)target * 200 * stems / (double)(clock_now(CLOCK_THREAD_CPUTIME_ID) - before);
        smoothed = (double)target;
    }
    jack_client_t *client = jack_client_open(argv[1], JackNoStartServer | JackUseExactName, NULL);
    if (!client) {
        fprintf(stderr, "burn: no JACK server\n");
        return 1;
    }
    int64_t rate = jack_get_sample_rate(client);
    outputs[0] = jack_port_register(client, "out_1", JACK_DEFAULT_AUDIO_TYPE, JackPortIsOutput, 0);
    outputs[1] = jack_port_register(client, "out_2", JACK_DEFAULT_AUDIO_TYPE, JackPortIsOutput, 0);
    jack_set_process_callback(client, process, &rate);
    if (jack_activate(client)) return 1;
    const char **playback = jack_get_ports(client, NULL, JACK_DEFAULT_AUDIO_TYPE, JackPortIsPhysical | JackPortIsInput);
    for (int c = 0; playback && playback[c] && c < 2; ++c) jack_connect(client, jack_port_name(outputs[c]), playback[c]);
    jack_free(playback);
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ready");
    char line[16];
    while (fgets(line, sizeof line, stdin)) {
        const int64_t n = atomic_exchange(&callbacks, 0), total = atomic_exchange(&cpu_total, 0);
        printf("{\"callbacks\": %lld, \"meanNanoseconds\": %.1f, \"maximumNanoseconds\": %lld, \"overHalfPeriod\": %lld}\n",
            (long long)n, n ? (double)total / (double)n : 0, (long long)atomic_exchange(&cpu_maximum, 0),
            (long long)atomic_exchange(&over_half, 0));
    }
    jack_client_close(client);
    return 0;
}
