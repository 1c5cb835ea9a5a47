// FFmpeg's libavformat, libavcodec and libavutil as Swift sees them, with wrappers for what their versions 4.4 to 6
// say differently and for what Swift cannot import (macros that compute).
#pragma once

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <stdbool.h>

#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 24, 100)
#define BACKLINE_AV_CHANNELS(p) ((p)->ch_layout.nb_channels)
#else
#define BACKLINE_AV_CHANNELS(p) ((p)->channels)
#endif

/// Samples in a frame of a stream, as its header says.
static inline int backline_av_stream_channels(const AVCodecParameters *_Nonnull parameters) {
    return BACKLINE_AV_CHANNELS(parameters);
}

/// Samples in a frame that was decoded.
static inline int backline_av_frame_channels(const AVFrame *_Nonnull frame) { return BACKLINE_AV_CHANNELS(frame); }

/// One channel's samples in a planar frame, or all of them in a packed one (channel 0).
static inline const uint8_t *_Nullable backline_av_plane(const AVFrame *_Nonnull frame, int channel) {
    return frame->extended_data ? frame->extended_data[channel] : (const uint8_t *)0;
}

static inline int backline_av_again(void) { return AVERROR(EAGAIN); }
static inline int backline_av_end(void) { return AVERROR_EOF; }
static inline int backline_av_exit(void) { return AVERROR_EXIT; }
static inline int backline_av_invalid(void) { return AVERROR_INVALIDDATA; }
static inline int backline_av_refused(void) { return AVERROR(EINVAL); }
static inline int64_t backline_av_no_time(void) { return AV_NOPTS_VALUE; }

/// Frames to leave out at the end of what a packet holds, as its container says; 0 where it says nothing.
static inline uint32_t backline_av_padding_behind(const AVPacket *_Nonnull packet) {
    for (int i = 0; i < packet->side_data_elems; i++) {
        const AVPacketSideData *side = &packet->side_data[i];
        if (side->type != AV_PKT_DATA_SKIP_SAMPLES || side->size < 10) continue;
        const uint8_t *b = side->data + 4;
        return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    }
    return 0;
}

/// Frames to leave out at the beginning, as the decoder says with the first frames; 0 where it says nothing.
static inline uint32_t backline_av_decoder_skip(const AVFrame *_Nonnull frame) {
    const AVFrameSideData *side = av_frame_get_side_data(frame, AV_FRAME_DATA_SKIP_SAMPLES);
    if (!side || side->size < 10) return 0;
    const uint8_t *b = side->data;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/// A stream of a file by its number.
static inline AVStream *_Nonnull backline_av_stream(const AVFormatContext *_Nonnull context, unsigned index) {
    return context->streams[index];
}
