// libjack as Swift sees it: all of jack.h, with wrappers for what the audio thread calls (vouched for) and for
// what Swift cannot call (variadic).
#pragma once

#include <CRealtime.h>
#include <jack/jack.h>

/// Opens a client that never starts a server. `server` NULL means JACK_DEFAULT_SERVER, else "default".
static inline jack_client_t *_Nullable backline_jack_client_open(
    const char *_Nonnull name, const char *_Nullable server, jack_status_t *_Nonnull status) {
    return server ? jack_client_open(name, JackNoStartServer | JackServerName, status, server)
                  : jack_client_open(name, JackNoStartServer, status);
}

/// The buffer of an output port in this cycle. Vouched: jack2 and PipeWire look an address up.
static inline RT_SAFE float *_Nonnull backline_jack_output_buffer(
    jack_port_t *_Nonnull port, jack_nframes_t frames) {
    return (float *)jack_port_get_buffer(port, frames);
}

/// The frame counter at the beginning of this cycle. Vouched: reads what the server shares.
static inline RT_SAFE jack_nframes_t backline_jack_cycle_frame(const jack_client_t *_Nonnull client) {
    return jack_last_frame_time(client);
}
