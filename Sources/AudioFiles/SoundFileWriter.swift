/// **Streaming:** writes frames to a sound file, which appears under its name only when it is whole.
///
/// Until `finish` the frames are in a hidden file beside it; `discard`, an error and the writer's end remove that.
@safe public final class SoundFileWriter {
    /// The file's name.
    public let path: String
    /// Samples in a frame.
    public let channelCount: Int
    /// Frames written so far.
    public private(set) var frameCount: Int64 = 0
    /// Samples that lay outside the range of 16 or 24 bits and were clipped to it; floating point never clips.
    public var clippedSampleCount: Int64 { quantizer?.clippedSampleCount ?? 0 }

    private let partial: PartialFile
    private let format: SoundFileFormat
    private let frameBytes: Int64
    private var file: SndFile?
    private var quantizer: Quantizer?
    private var integers: [Int32]
    private var floats: [Float]

    /// Frames handed to the library at once: its Vorbis encoder takes large blocks from the stack.
    private static let pieceFrames = 4_096

    /// Starts a file at `path`.
    ///
    /// `samples` is the sample format; without one it is 24 bits. A lossy format has none, and refuses to be given
    /// one. 16 bits are dithered: triangular, 2 steps peak to peak, and the same for every render. An existing file
    /// is refused, or with `force` replaced when the new one is whole. Throws also where the format cannot hold so
    /// many channels or such a rate, in Hz, and where the folder cannot be written.
    public init(
        path: String, format: SoundFileFormat, samples: SampleFormat? = nil, channelCount: Int,
        sampleRate: Int,
        force: Bool = false
    ) throws(AudioFileError) {
        try format.check(path: path, samples: samples, channelCount: channelCount, sampleRate: sampleRate)
        let samples = samples ?? (format.isLossy ? .float32 : .int24)
        self.path = path
        self.format = format
        self.channelCount = channelCount
        frameBytes = Int64(channelCount * samples.byteCount)
        quantizer =
            switch samples {
            case .int16: Quantizer(bits: 16, dithers: true)
            case .int24: Quantizer(bits: 24, dithers: false)
            case .float32: nil
            }
        let scratch = Self.pieceFrames * channelCount
        integers = quantizer == nil ? [] : .init(repeating: 0, count: scratch)
        floats = format.isLossy ? .init(repeating: 0, count: scratch) : []
        partial = try PartialFile(path: path, force: force)
        file = try SndFile(
            writing: partial, format: format, samples: samples, channelCount: channelCount,
            sampleRate: sampleRate)
    }

    deinit { discard() }

    /// Writes `count` interleaved frames; not after `finish` or `discard`.
    ///
    /// Throws, and removes the file, where the disk is full or fails, or where the format has no room for more.
    public func write(_ frames: UnsafePointer<Float>, count: Int) throws(AudioFileError) {
        precondition(file != nil, "the file is closed")
        if format == .aiff, (frameCount + Int64(count)) * frameBytes > 0xFFFF_0000 {
            discard()
            throw .unsupported(
                path: path, reason: "an AIFF file ends at 4 GiB", mend: "use --format w64, rf64 or caf")
        }
        var done = 0
        while done < count {
            let n = min(count - done, Self.pieceFrames)
            guard unsafe writePiece(frames + done * channelCount, count: n) else {
                let reason = partial.failure ?? file?.error ?? "the encoder failed"
                discard()
                throw .cannotWrite(path: path, reason: reason)
            }
            done += n
        }
        frameCount += Int64(count)
    }

    /// Completes the file and gives it its name. Throws, and removes it, where that fails.
    public func finish() throws(AudioFileError) {
        file = nil
        if quantizer == nil, !format.isLossy { partial.clearPeakTime() }
        try partial.commit()
    }

    /// Gives the file up and removes what was written; nothing after `finish`.
    public func discard() {
        file = nil
        partial.discard()
    }

    private func writePiece(_ frames: UnsafePointer<Float>, count: Int) -> Bool {
        let sampleCount = count * channelCount
        if quantizer != nil {
            return unsafe integers.withUnsafeMutableBufferPointer {
                unsafe quantizer!.quantize(frames, into: $0.baseAddress!, count: sampleCount)
                return unsafe file!.write($0.baseAddress!, count: count)
            }
        }
        guard format.isLossy else { return unsafe file!.write(frames, count: count) }
        // An encoder that is given NaN spoils more than that sample.
        return unsafe floats.withUnsafeMutableBufferPointer {
            let copy = $0.baseAddress!
            unsafe copy.update(from: frames, count: sampleCount)
            _ = unsafe silenceNonFinite(copy, count: sampleCount)
            return unsafe file!.write(copy, count: count)
        }
    }
}
