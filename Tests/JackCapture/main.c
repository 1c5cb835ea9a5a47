// jack-capture-frames: the judge of Backline's live tests, and independent of it.
//
// An ordinary JACK client that keeps, in locked memory, every sample that reaches its inputs, and for every
// callback what JACK said about it. At the end it writes both:
//
//   --audio FILE  float32, native byte order, interleaved: as many channels as --ports names; with --planar one
//                 channel after the other
//   --log FILE    a first line "# rate RATE channels N", then one line for each callback:
//                 "JACK-FRAME FRAMES XRUNS OVERTAKEN FREEWHEEL", the frame counter at the callback's first sample,
//                 how many frames of it were kept, the xruns announced so far, whether the server had begun another
//                 cycle before all was copied (others may have written over it), and whether it runs in freewheel;
//                 a last line "# shutdown" if the server went away.
//
// So the kept sample that a line's callback begins with has the index that the FRAMES of the lines before add up
// to, and a gap is where JACK-FRAME is not the JACK-FRAME before plus the FRAMES before.
#include <errno.h>
#include <getopt.h>
#include <jack/jack.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { most_channels = 64, smallest_period = 16 };

struct callback {
    jack_nframes_t jack_frame;
    jack_nframes_t frames;
    uint32_t xruns;
    bool overtaken, freewheel;
};

static struct {
    jack_client_t *client;
    jack_port_t *inputs[most_channels];
    int channels;
    float *audio;
    struct callback *log;
    size_t frame_capacity, log_capacity;
    size_t frames, callbacks;  // the process thread's until the client is closed
    atomic_uint xruns;
    atomic_bool recording, gone, freewheel;
    bool full, planar;
} capture;

/// Posted when the memory is full, on SIGTERM and SIGINT, when the server goes away and when a port appears.
static sem_t wake;
static atomic_bool stop, filled;

static int process(jack_nframes_t frames, void *unused) {
    (void)unused;
    if (!atomic_load(&capture.recording) || capture.full) return 0;
    const size_t room = capture.frame_capacity - capture.frames;
    const size_t kept = frames < room ? frames : room;
    struct callback *entry = &capture.log[capture.callbacks++];
    *entry = (struct callback){
        .jack_frame = jack_last_frame_time(capture.client),
        .frames = (jack_nframes_t)kept,
        .xruns = atomic_load(&capture.xruns),
        .freewheel = atomic_load(&capture.freewheel),
    };
    for (int c = 0; c < capture.channels; c++) {
        const float *in = jack_port_get_buffer(capture.inputs[c], frames);
        if (capture.planar) {
            memcpy(capture.audio + (size_t)c * capture.frame_capacity + capture.frames, in, kept * sizeof *in);
            continue;
        }
        float *out = capture.audio + capture.frames * (size_t)capture.channels + c;
        for (size_t i = 0; i < kept; i++) out[i * (size_t)capture.channels] = in[i];
    }
    entry->overtaken = jack_last_frame_time(capture.client) != entry->jack_frame;
    capture.frames += kept;
    if (capture.frames == capture.frame_capacity || capture.callbacks == capture.log_capacity) {
        capture.full = true;
        atomic_store(&filled, true);
        sem_post(&wake);
    }
    return 0;
}

static int on_xrun(void *unused) {
    (void)unused;
    atomic_fetch_add(&capture.xruns, 1);
    return 0;
}

static void on_freewheel(int starting, void *unused) {
    (void)unused;
    atomic_store(&capture.freewheel, starting != 0);
}

static void on_shutdown(void *unused) {
    (void)unused;
    atomic_store(&capture.gone, true);
    sem_post(&wake);
}

static void on_registration(jack_port_id_t port, int registered, void *unused) {
    (void)port, (void)unused;
    if (registered) sem_post(&wake);
}

static void on_signal(int signal) {
    (void)signal;
    atomic_store(&stop, true);
    sem_post(&wake);
}

static void quiet(const char *message) { (void)message; }

static void fail(const char *what, const char *on, const char *why) {
    fprintf(stderr, "jack-capture-frames: %s %s: %s\n", what, on, why);
    exit(1);
}

/// Memory that the process thread may touch without a page fault.
static void *resident(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) fail("cannot allocate", "the capture", strerror(errno));
    if (mlock(memory, count * size) != 0) {
        fprintf(stderr, "jack-capture-frames: cannot lock memory (%s); prefaulted instead\n", strerror(errno));
    }
    memset(memory, 0, count * size);
    return memory;
}

/// True once every condition to stop waiting for more is met.
static bool ended(bool until_signal) {
    return atomic_load(&stop) || atomic_load(&capture.gone) || (!until_signal && atomic_load(&filled));
}

static void await_wake(void) {
    while (sem_wait(&wake) != 0 && errno == EINTR) {}
}

static FILE *open_for_writing(const char *path) {
    FILE *file = fopen(path, "wb");
    if (!file) fail("cannot write", path, strerror(errno));
    return file;
}

static void close_written(FILE *file, const char *path) {
    if (ferror(file) || fclose(file) != 0) fail("cannot write", path, strerror(errno));
}

static const char usage[] =
    "usage: jack-capture-frames --ports A,B… --audio FILE --log FILE (--seconds S | --frames N)\n"
    "         [--server NAME] [--name CLIENT] [--wait-port] [--start-when-connected] [--wait-for-signal]\n"
    "         [--planar]\n"
    "  --ports A,B…            output ports to capture, one channel each; a port named - leaves its channel open\n"
    "  --seconds S, --frames N how much to keep; SIGTERM or SIGINT ends earlier, and what is kept is written\n"
    "  --wait-port             wait until the ports exist (else a missing port is an error)\n"
    "  --start-when-connected  keep nothing before all ports are connected (else from activation on)\n"
    "  --planar                write one channel after the other, not interleaved\n"
    "  --wait-for-signal       when all is kept, stay connected until SIGTERM or SIGINT\n"
    "Prints READY when it is active and connected. Exit status 1 if the server went away or anything failed.\n";

int main(int argc, char **argv) {
    const char *server = NULL, *name = "capture-frames", *audio_path = NULL, *log_path = NULL;
    char *ports = NULL;
    double seconds = 0;
    long long frames = 0;
    bool wait_port = false, start_when_connected = false, wait_for_signal = false;
    static const struct option options[] = {
        {"server", required_argument, 0, 'n'},      {"name", required_argument, 0, 'c'},
        {"ports", required_argument, 0, 'p'},       {"audio", required_argument, 0, 'a'},
        {"log", required_argument, 0, 'l'},         {"seconds", required_argument, 0, 's'},
        {"frames", required_argument, 0, 'f'},      {"wait-port", no_argument, 0, 'w'},
        {"start-when-connected", no_argument, 0, 'b'}, {"wait-for-signal", no_argument, 0, 't'},
        {"planar", no_argument, 0, 'i'},            {"help", no_argument, 0, 'h'},
        {0},
    };
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
            case 'n': server = optarg; break;
            case 'c': name = optarg; break;
            case 'p': ports = optarg; break;
            case 'a': audio_path = optarg; break;
            case 'l': log_path = optarg; break;
            case 's': seconds = atof(optarg); break;
            case 'f': frames = atoll(optarg); break;
            case 'w': wait_port = true; break;
            case 'b': start_when_connected = true; break;
            case 't': wait_for_signal = true; break;
            case 'i': capture.planar = true; break;
            case 'h': fputs(usage, stdout); return 0;
            default: fputs(usage, stderr); return 2;
        }
    }
    if (!ports || !audio_path || !log_path || (seconds <= 0) == (frames <= 0) || optind != argc) {
        fputs(usage, stderr);
        return 2;
    }

    const char *sources[most_channels];
    for (char *at = ports, *source; (source = strsep(&at, ","));) {
        if (capture.channels == most_channels) fail("cannot capture", ports, "more than 64 ports");
        sources[capture.channels++] = source;
    }

    sem_init(&wake, 0, 0);
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    // A program that is started from a thread of libdispatch inherits that most signals are blocked.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);

    jack_set_info_function(quiet);
    jack_status_t status = 0;
    capture.client = server ? jack_client_open(name, JackNoStartServer | JackServerName, &status, server)
                            : jack_client_open(name, JackNoStartServer, &status);
    if (!capture.client) fail("cannot open a client on", server ? server : "the default server", "no server runs there");

    const jack_nframes_t rate = jack_get_sample_rate(capture.client);
    capture.frame_capacity = frames > 0 ? (size_t)frames : (size_t)(seconds * rate + 0.5);
    capture.log_capacity = capture.frame_capacity / smallest_period + 1;
    capture.audio = resident(capture.frame_capacity * (size_t)capture.channels, sizeof(float));
    capture.log = resident(capture.log_capacity, sizeof(struct callback));

    for (int c = 0; c < capture.channels; c++) {
        char input[32];
        snprintf(input, sizeof input, "in_%d", c + 1);
        capture.inputs[c] =
            jack_port_register(capture.client, input, JACK_DEFAULT_AUDIO_TYPE, JackPortIsInput, 0);
        if (!capture.inputs[c]) fail("cannot register", input, "the server has no more ports");
    }
    jack_set_process_callback(capture.client, process, NULL);
    jack_set_xrun_callback(capture.client, on_xrun, NULL);
    jack_set_freewheel_callback(capture.client, on_freewheel, NULL);
    jack_set_port_registration_callback(capture.client, on_registration, NULL);
    jack_on_shutdown(capture.client, on_shutdown, NULL);
    atomic_store(&capture.recording, !start_when_connected);
    if (jack_activate(capture.client) != 0) fail("cannot activate", name, "the server refused");

    for (int c = 0; c < capture.channels; c++) {
        if (strcmp(sources[c], "-") == 0) continue;
        while (wait_port && !ended(true) && !jack_port_by_name(capture.client, sources[c])) await_wake();
        if (ended(true)) break;
        const int error = jack_connect(capture.client, sources[c], jack_port_name(capture.inputs[c]));
        if (error) fail("cannot connect", sources[c], "there is no such output port");
    }
    atomic_store(&capture.recording, true);
    if (!ended(true)) {
        puts("READY");
        fflush(stdout);
    }

    while (!ended(wait_for_signal)) await_wake();
    if (!atomic_load(&capture.gone)) jack_client_close(capture.client);

    FILE *audio = open_for_writing(audio_path);
    if (capture.planar) {
        for (int c = 0; c < capture.channels; c++) {
            fwrite(capture.audio + (size_t)c * capture.frame_capacity, sizeof(float), capture.frames, audio);
        }
    } else {
        fwrite(capture.audio, sizeof(float) * (size_t)capture.channels, capture.frames, audio);
    }
    close_written(audio, audio_path);
    FILE *log = open_for_writing(log_path);
    fprintf(log, "# rate %u channels %d\n", rate, capture.channels);
    for (size_t i = 0; i < capture.callbacks; i++) {
        const struct callback *entry = &capture.log[i];
        fprintf(log, "%u %u %u %d %d\n", entry->jack_frame, entry->frames, entry->xruns, entry->overtaken,
                entry->freewheel);
    }
    if (atomic_load(&capture.gone)) fputs("# shutdown\n", log);
    close_written(log, log_path);
    return atomic_load(&capture.gone);
}
