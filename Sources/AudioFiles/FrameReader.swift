import Glibc

/// **Streaming:** the frames of one file at its own rate, from any place, whichever library reads it.
protocol FrameReader: AnyObject {
    /// Samples in a frame, 1 to 64.
    var channelCount: Int { get }
    /// Hz.
    var sampleRate: Int { get }
    /// The length that the file states, or that was found where it states none.
    var frameCount: Int64 { get }
    /// Frames that can be read, counted from the start: `frameCount`, until the file turns out to break off.
    var readableFrames: Int64 { get }
    /// Why `readableFrames` is less than `frameCount`.
    var damage: AudioFileError? { get }
    /// What is known from the start to be missing at the file's end; `frameCount` is what is there.
    var truncation: AudioFileError? { get }
    /// NaN and infinite samples met so far and delivered as 0.
    var nonFiniteSampleCount: Int { get }

    /// Reads up to `count` frames from `frame` on into `buffer`, interleaved; fewer only at the end, or where the
    /// file breaks off.
    func read(
        from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int
    ) throws(AudioFileError) -> Int
}

/// Runs `open` with libsndfile, and where that does not know the file, `otherwise` with libav.
///
/// A file that neither knows is refused with libsndfile's reason, unless libav got further. Audio streams behind
/// the first, which libsndfile has no word for, are libav's.
func openWithEither<Opened>(
    _ path: String, stream: Int, _ open: () throws(AudioFileError) -> Opened,
    otherwise: () throws(AudioFileError) -> Opened
) throws(AudioFileError) -> Opened {
    try requireRegularFile(path)
    guard stream == 0 else { return try otherwise() }
    let first: AudioFileError
    do {
        return try open()
    } catch {
        guard case .cannotRead = error else { throw error }
        first = error
    }
    do {
        return try otherwise()
    } catch {
        if case .unknownFormat = error { throw first }
        throw error
    }
}

/// Throws where `path` is no regular file that can be read.
func requireRegularFile(_ path: String) throws(AudioFileError) {
    // Without O_NONBLOCK a pipe would wait for a writer, for ever.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .cannotOpen(path: path, reason: systemReason(errno)) }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw .cannotRead(path: path, reason: "it is not a regular file")
    }
}
