import Foundation

/// The limits that the system sets to this process, those which audio depends on.
public struct ResourceLimits: Sendable, Equatable {
    /// One limit: `soft` holds now, and the process may raise it to `hard` by itself. `nil` is unlimited.
    public struct Limit: Sendable, Equatable {
        /// What holds now.
        public let soft: UInt64?
        /// As far as the process may raise it.
        public let hard: UInt64?

        /// A limit of `soft`, which may be raised to `hard`.
        public init(soft: UInt64?, hard: UInt64?) {
            self.soft = soft
            self.hard = hard
        }

        /// A limit that cannot be raised.
        public init(_ value: UInt64?) {
            self.init(soft: value, hard: value)
        }
    }

    /// The highest real-time priority (`RLIMIT_RTPRIO`), 0 to 99.
    public let realtimePriority: Limit
    /// Bytes of memory that may be locked (`RLIMIT_MEMLOCK`).
    public let lockedMemory: Limit
    /// Files that may be open at once (`RLIMIT_NOFILE`).
    public let openFiles: Limit

    /// Limits as given.
    public init(realtimePriority: Limit, lockedMemory: Limit, openFiles: Limit) {
        self.realtimePriority = realtimePriority
        self.lockedMemory = lockedMemory
        self.openFiles = openFiles
    }

    /// **Any thread:** the limits of this process, now.
    public static func current() -> ResourceLimits {
        ResourceLimits(
            realtimePriority: limit(rawValue(__RLIMIT_RTPRIO)),
            lockedMemory: limit(rawValue(__RLIMIT_MEMLOCK)),
            openFiles: limit(rawValue(RLIMIT_NOFILE)))
    }

    private static func rawValue(_ resource: __rlimit_resource) -> __rlimit_resource_t {
        __rlimit_resource_t(resource.rawValue)
    }

    private static func limit(_ resource: __rlimit_resource_t) -> Limit {
        var value = rlimit()
        guard unsafe getrlimit(resource, &value) == 0 else { return Limit(0) }
        return Limit(soft: finite(value.rlim_cur), hard: finite(value.rlim_max))
    }

    /// RLIM_INFINITY, whose macro Swift does not import, is the highest value.
    private static func finite(_ value: rlim_t) -> UInt64? {
        value == .max ? nil : UInt64(value)
    }
}
