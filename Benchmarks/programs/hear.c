// What an independent JACK client hears, and when: prints a line each time that its input leaves a level at which
// it had rested, and each time that it rests at a new one. Silence is the level 0.
//
//     hear CLIENT-NAME [RESTING-MILLISECONDS]
//
//     move NS LEVEL     at NS (CLOCK_MONOTONIC) the first sample off LEVEL was there to be read
//     rest NS LEVEL     by NS it had rested at LEVEL for so long (10 ms)
//
// It has two inputs, CLIENT-NAME:in_1 and in_2, and listens to the first that is not silent in a cycle. Ends on
// SIGTERM or with its standard output.
#include <jack/jack.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { event_count = 4096 };

struct event {
    bool is_rest;
    int64_t time;
    float level;
};

static jack_client_t *client;
static jack_port_t *inputs[2];
static struct event events[event_count];
static atomic_size_t written;
static size_t told;
static volatile sig_atomic_t stopped;

// The process thread's.
static float last, resting = 0;
static bool is_at_rest = true;
static int64_t quiet_frames, resting_frames;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void note(bool is_rest, int64_t time, float level) {
    const size_t n = atomic_load_explicit(&written, memory_order_relaxed);
    events[n % event_count] = (struct event){is_rest, time, level};
    atomic_store_explicit(&written, n + 1, memory_order_release);
}

static int process(jack_nframes_t frames, void *unused) {
    (void)unused;
    const float *a = jack_port_get_buffer(inputs[0], frames), *b = jack_port_get_buffer(inputs[1], frames);
    const int64_t time = now();
    for (jack_nframes_t i = 0; i < frames; ++i) {
        const float x = a[i] != 0 ? a[i] : b[i];
        if (is_at_rest) {
            if (fabsf(x - resting) > 1e-6f) {
                is_at_rest = false;
                quiet_frames = 0;
                note(false, time, resting);
            }
        } else if (fabsf(x - last) <= 1e-7f) {
            if (++quiet_frames >= resting_frames) {
                is_at_rest = true;
                resting = x;
                note(true, time, x);
            }
        } else {
            quiet_frames = 0;
        }
        last = x;
    }
    return 0;
}

static void stop(int number) {
    (void)number;
    stopped = 1;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: hear CLIENT-NAME [RESTING-MILLISECONDS]\n");
        return 2;
    }
    client = jack_client_open(argv[1], JackNoStartServer | JackUseExactName, NULL);
    if (!client) {
        fprintf(stderr, "hear: no JACK server\n");
        return 1;
    }
    resting_frames = jack_get_sample_rate(client) * (argc > 2 ? atoi(argv[2]) : 10) / 1000;
    inputs[0] = jack_port_register(client, "in_1", JACK_DEFAULT_AUDIO_TYPE, JackPortIsInput, 0);
    inputs[1] = jack_port_register(client, "in_2", JACK_DEFAULT_AUDIO_TYPE, JackPortIsInput, 0);
    jack_set_process_callback(client, process, NULL);
    signal(SIGTERM, stop);
    signal(SIGINT, stop);
    if (jack_activate(client)) return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready %lld\n", (long long)now());
    while (!stopped) {
        usleep(2000);
        const size_t end = atomic_load_explicit(&written, memory_order_acquire);
        for (; told < end; ++told) {
            const struct event *e = &events[told % event_count];
            printf("%s %lld %.6f\n", e->is_rest ? "rest" : "move", (long long)e->time, e->level);
        }
    }
    jack_client_close(client);
    return 0;
}
