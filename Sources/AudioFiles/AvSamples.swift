import CAvformat

/// Writes the samples of a decoded frame to `out`, interleaved, as floats of −1 to 1: integers become exactly
/// n / 2^(bits − 1), as far as a float holds them. Returns how many samples were NaN or infinite and became 0.
func interleave(_ frame: UnsafeMutablePointer<AVFrame>, into out: UnsafeMutablePointer<Float>) -> Int {
    let format = unsafe AVSampleFormat(frame.pointee.format)
    switch av_get_packed_sample_fmt(format) {
    case AV_SAMPLE_FMT_U8: unsafe copy(frame, out, as: UInt8.self) { (Float($0) - 128) * 0x1p-7 }
    case AV_SAMPLE_FMT_S16: unsafe copy(frame, out, as: Int16.self) { Float($0) * 0x1p-15 }
    case AV_SAMPLE_FMT_S32: unsafe copy(frame, out, as: Int32.self) { Float($0) * 0x1p-31 }
    case AV_SAMPLE_FMT_S64: unsafe copy(frame, out, as: Int64.self) { Float($0) * 0x1p-63 }
    case AV_SAMPLE_FMT_DBL:
        unsafe copy(frame, out, as: Double.self) { Float($0) }
        return unsafe silenceNonFinite(out, count: sampleCount(frame))
    default:
        unsafe copy(frame, out, as: Float.self) { $0 }
        return unsafe silenceNonFinite(out, count: sampleCount(frame))
    }
    return 0
}

private func sampleCount(_ frame: UnsafeMutablePointer<AVFrame>) -> Int {
    unsafe Int(frame.pointee.nb_samples) * Int(backline_av_frame_channels(frame))
}

@inline(__always)
private func copy<Sample: BitwiseCopyable>(
    _ frame: UnsafeMutablePointer<AVFrame>, _ out: UnsafeMutablePointer<Float>, as type: Sample.Type,
    _ convert: (Sample) -> Float
) {
    let frameCount = unsafe Int(frame.pointee.nb_samples)
    let channelCount = unsafe Int(backline_av_frame_channels(frame))
    let isPlanar = unsafe av_sample_fmt_is_planar(AVSampleFormat(frame.pointee.format)) != 0
    // Packed samples are one plane in which all channels lie.
    let planeCount = isPlanar ? channelCount : 1
    let planeSamples = isPlanar ? frameCount : frameCount * channelCount
    for plane in 0..<planeCount {
        guard let bytes = unsafe backline_av_plane(frame, Int32(plane)) else { continue }
        let samples = unsafe UnsafeRawPointer(bytes).assumingMemoryBound(to: type)
        for i in 0..<planeSamples { unsafe out[i * planeCount + plane] = convert(samples[i]) }
    }
}
