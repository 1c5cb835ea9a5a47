import Synchronization

/// A cell where only the newest value matters: one side writes, the other reads, neither ever waits.
///
/// Three buffers: the writer fills one, the reader looks at another, and the third changes hands by a single
/// atomic exchange. The cell lives at a fixed address for as long as either end is used.
@frozen
public struct Latest<Value: BitwiseCopyable>: ~Copyable {
    /// First of all fields, since `buffer` takes the cell's address for theirs.
    @usableFromInline var buffers: InlineArray<3, Value>
    /// The buffer that is in nobody's hands, with `isFresh` when the writer put it there.
    @usableFromInline let exchange: Atomic<UInt8>
    @usableFromInline var writing: UInt8
    @usableFromInline var reading: UInt8

    @inlinable static var isFresh: UInt8 { 0x80 }

    /// One of the three buffers of the cell at `cell`, by its address: by its name every use of one would count
    /// as a use of all three, and the two sides each use one at the same time.
    @inlinable @inline(__always)
    static func buffer(
        _ index: UInt8, of cell: UnsafeMutablePointer<Latest<Value>>
    ) -> UnsafeMutablePointer<Value> {
        unsafe UnsafeMutableRawPointer(cell).assumingMemoryBound(to: Value.self) + Int(index)
    }

    /// A cell that holds `value`, which counts as read.
    @inlinable
    public init(_ value: Value) {
        buffers = InlineArray(repeating: value)
        exchange = Atomic(1)
        writing = 0
        reading = 2
    }
}

/// The writing end of a cell.
@frozen
@safe
public struct LatestWriter<Value: BitwiseCopyable>: ~Copyable {
    @usableFromInline let cell: UnsafeMutablePointer<Latest<Value>>

    /// The writing end of the cell at `cell`; at most one is in use at a time.
    @inlinable
    public init(_ cell: UnsafeMutablePointer<Latest<Value>>) {
        unsafe self.cell = cell
    }

    /// Makes `value` the newest.
    @inlinable
    public mutating func write(_ value: Value) {
        unsafe Latest<Value>.buffer(cell.pointee.writing, of: cell).pointee = value
        let fresh = unsafe cell.pointee.writing | Latest<Value>.isFresh
        let back = unsafe cell.pointee.exchange.exchange(fresh, ordering: .acquiringAndReleasing)
        unsafe cell.pointee.writing = back & ~Latest<Value>.isFresh
    }
}

/// The reading end of a cell.
@frozen
@safe
public struct LatestReader<Value: BitwiseCopyable>: ~Copyable {
    @usableFromInline let cell: UnsafeMutablePointer<Latest<Value>>

    /// The reading end of the cell at `cell`; at most one is in use at a time.
    @inlinable
    public init(_ cell: UnsafeMutablePointer<Latest<Value>>) {
        unsafe self.cell = cell
    }

    /// Whether a value was written since the last `read`.
    @inlinable
    public var hasNews: Bool {
        unsafe cell.pointee.exchange.load(ordering: .relaxed) & Latest<Value>.isFresh != 0
    }

    /// The newest value.
    @inlinable
    public mutating func read() -> Value {
        if hasNews {
            let front = unsafe cell.pointee.exchange.exchange(
                cell.pointee.reading, ordering: .acquiringAndReleasing)
            unsafe cell.pointee.reading = front & ~Latest<Value>.isFresh
        }
        return unsafe Latest<Value>.buffer(cell.pointee.reading, of: cell).pointee
    }
}
