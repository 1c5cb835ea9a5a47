import RenderCore
import Synchronization

/// Sources that failed while they were read, from the streaming threads to control.
public final class FailureLog: Sendable {
    private let entries = Mutex<[(slot: SlotID, failure: SourceFailure)]>([])

    init() {}

    func add(_ slot: SlotID, _ failure: SourceFailure) {
        entries.withLock { $0.append((slot, failure)) }
    }

    /// **Any thread:** takes what has been reported since the last call.
    public func take() -> [(slot: SlotID, failure: SourceFailure)] {
        entries.withLock { list in
            defer { list = [] }
            return list
        }
    }
}
