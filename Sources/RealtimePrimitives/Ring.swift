import Synchronization

/// The two indices of a ring, each on cache lines of its own so that the two sides do not slow each other.
@frozen
public struct RingIndices: ~Copyable {
    /// How many elements the producer has published, since the beginning.
    @usableFromInline let published: Atomic<Int>
    @usableFromInline let producerPadding: InlineArray<15, Int>
    /// How many elements the consumer has taken, since the beginning.
    @usableFromInline let taken: Atomic<Int>
    @usableFromInline let consumerPadding: InlineArray<15, Int>

    @inlinable
    init() {
        published = Atomic(0)
        producerPadding = InlineArray(repeating: 0)
        taken = Atomic(0)
        consumerPadding = InlineArray(repeating: 0)
    }
}

/// A bounded queue from one producer to one consumer that never waits.
///
/// A ring allocates nothing: whoever owns it hands it memory and keeps that alive for as long as either end is
/// used. The ends are `~Copyable`, so that one producer and one consumer is a compile-time fact.
@frozen
public struct Ring<Element: BitwiseCopyable>: ~Copyable {
    /// The producer's end.
    public var writer: RingWriter<Element>
    /// The consumer's end.
    public var reader: RingReader<Element>

    /// The memory that a ring of `capacity` elements needs, in bytes.
    @inlinable
    public static func byteCount(capacity: Int) -> Int {
        MemoryLayout<RingIndices>.size + capacity * MemoryLayout<Element>.stride
    }

    /// Makes an empty ring in `memory`, which holds `byteCount(capacity:)` bytes aligned to 128.
    /// `capacity` is a power of two.
    @inlinable
    public init(in memory: UnsafeMutableRawPointer, capacity: Int) {
        let indices = unsafe memory.bindMemory(to: RingIndices.self, capacity: 1)
        unsafe indices.initialize(to: RingIndices())
        let elements = unsafe (memory + MemoryLayout<RingIndices>.size)
            .bindMemory(to: Element.self, capacity: capacity)
        writer = unsafe RingWriter(indices: indices, elements: elements, capacity: capacity)
        reader = unsafe RingReader(indices: indices, elements: elements, capacity: capacity)
    }
}

/// The producing end of a ring. Elements are staged first and published together, so that the consumer sees
/// all of a batch or nothing of it.
@frozen
@safe
public struct RingWriter<Element: BitwiseCopyable>: ~Copyable {
    @usableFromInline let indices: UnsafeMutablePointer<RingIndices>
    @usableFromInline let elements: UnsafeMutablePointer<Element>
    @usableFromInline let capacity: Int
    @usableFromInline var staged: Int
    @usableFromInline var takenSeen: Int

    @inlinable
    init(indices: UnsafeMutablePointer<RingIndices>, elements: UnsafeMutablePointer<Element>, capacity: Int) {
        unsafe self.indices = indices
        unsafe self.elements = elements
        self.capacity = capacity
        staged = 0
        takenSeen = 0
    }

    /// Stages `element` behind those already staged. False when the ring has no room for it.
    @inlinable
    public mutating func stage(_ element: Element) -> Bool {
        if staged &- takenSeen >= capacity {
            takenSeen = unsafe indices.pointee.taken.load(ordering: .acquiring)
            if staged &- takenSeen >= capacity { return false }
        }
        unsafe elements[staged & (capacity &- 1)] = element
        staged &+= 1
        return true
    }

    /// Shows the consumer all that is staged.
    @inlinable
    public mutating func publish() {
        unsafe indices.pointee.published.store(staged, ordering: .releasing)
    }

    /// Forgets what is staged and not yet published.
    @inlinable
    public mutating func discardStaged() {
        staged = unsafe indices.pointee.published.load(ordering: .relaxed)
    }

    /// Writes one element and publishes it. False when the ring is full.
    @inlinable
    public mutating func write(_ element: Element) -> Bool {
        guard stage(element) else { return false }
        publish()
        return true
    }
}

/// The consuming end of a ring.
@frozen
@safe
public struct RingReader<Element: BitwiseCopyable>: ~Copyable {
    @usableFromInline let indices: UnsafeMutablePointer<RingIndices>
    @usableFromInline let elements: UnsafeMutablePointer<Element>
    @usableFromInline let capacity: Int
    @usableFromInline var taken: Int
    @usableFromInline var publishedSeen: Int

    @inlinable
    init(indices: UnsafeMutablePointer<RingIndices>, elements: UnsafeMutablePointer<Element>, capacity: Int) {
        unsafe self.indices = indices
        unsafe self.elements = elements
        self.capacity = capacity
        taken = 0
        publishedSeen = 0
    }

    /// Takes the oldest element. Nil when the ring is empty.
    @inlinable
    public mutating func read() -> Element? {
        if taken == publishedSeen {
            publishedSeen = unsafe indices.pointee.published.load(ordering: .acquiring)
            if taken == publishedSeen { return nil }
        }
        let element = unsafe elements[taken & (capacity &- 1)]
        taken &+= 1
        unsafe indices.pointee.taken.store(taken, ordering: .releasing)
        return element
    }
}
