/// A run of samples for each channel, as Rubber Band takes and gives them.
@safe struct Planes: ~Copyable {
    let channelCount: Int
    let capacity: Int
    private let samples: UnsafeMutablePointer<Float>
    private let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>

    init(channelCount: Int, capacity: Int) {
        self.channelCount = channelCount
        self.capacity = capacity
        unsafe samples = .allocate(capacity: channelCount * capacity)
        unsafe samples.initialize(repeating: 0, count: channelCount * capacity)
        unsafe pointers = .allocate(capacity: channelCount)
        for channel in 0..<channelCount {
            unsafe (pointers + channel).initialize(to: samples + channel * capacity)
        }
    }

    deinit {
        unsafe samples.deallocate()
        unsafe pointers.deallocate()
    }

    /// The runs, to be written.
    var output: UnsafePointer<UnsafeMutablePointer<Float>?> { unsafe UnsafePointer(pointers) }

    /// The runs, to be read.
    var input: UnsafePointer<UnsafePointer<Float>?> {
        unsafe UnsafeRawPointer(pointers).assumingMemoryBound(to: UnsafePointer<Float>?.self)
    }

    /// Takes `count` interleaved frames to `frame` and after; silence where there are none.
    func write(_ frames: UnsafePointer<Float>?, at frame: Int, count: Int) {
        for channel in 0..<channelCount {
            let run = unsafe samples + channel * capacity + frame
            guard let frames = unsafe frames else {
                unsafe run.update(repeating: 0, count: count)
                continue
            }
            for i in 0..<count { unsafe run[i] = frames[i * channelCount + channel] }
        }
    }

    /// Interleaves the first `count` frames into `frames`.
    func read(_ frames: UnsafeMutablePointer<Float>, count: Int) {
        for channel in 0..<channelCount {
            let run = unsafe samples + channel * capacity
            for i in 0..<count { unsafe frames[i * channelCount + channel] = run[i] }
        }
    }
}
