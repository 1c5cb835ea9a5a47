/// **Streaming:** several sources side by side in one, for a group of stems that one instance of R2 stretches.
///
/// Its channels are those of the first source, then those of the second, and so on; it is as long as the longest.
@safe public final class StemBundle: StretchSource {
    /// Samples in a frame, of all sources together.
    public let channelCount: Int
    /// Length in frames, of the longest source.
    public var frameCount: Int64 { sources.reduce(0) { max($0, $1.frameCount) } }

    private let sources: [any StretchSource]
    private var piece: [Float] = []

    /// A bundle of these sources.
    public init(_ sources: [any StretchSource]) {
        self.sources = sources
        channelCount = sources.reduce(0) { $0 + $1.channelCount }
    }

    /// Reads from every source; silence after the end of each.
    public func read(from frame: Int64, into buffer: UnsafeMutablePointer<Float>, count: Int) throws -> Int {
        var first = 0
        for source in sources {
            let width = source.channelCount
            let size = count * width
            if piece.count < size { piece = [Float](repeating: 0, count: size) }
            let wanted = Int(max(0, min(Int64(count), source.frameCount - frame)))
            let read =
                wanted == 0
                ? 0
                : try unsafe piece.withUnsafeMutableBufferPointer {
                    try unsafe source.read(from: frame, into: $0.baseAddress!, count: wanted)
                }
            for i in 0..<count {
                for channel in 0..<width {
                    let sample = i < read ? piece[i * width + channel] : 0
                    unsafe buffer[i * channelCount + first + channel] = sample
                }
            }
            first += width
        }
        return count
    }
}
