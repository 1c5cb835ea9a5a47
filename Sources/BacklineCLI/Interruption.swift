import Dispatch
import Glibc
import Synchronization

/// ^C and SIGTERM: asked for, not sprung on the program.
final class Interruption: Sendable {
    private let flag = Atomic<Bool>(false)
    /// When it was asked first, in nanoseconds.
    private let moment = Atomic<UInt64>(0)

    /// Nanoseconds after which a second signal ends the program at once. What sends one signal often sends two
    /// (timeout(1), or a terminal that closes), and neither is impatience.
    private static let patience: UInt64 = 2_000_000_000

    /// From now on ^C and SIGTERM call `whenAsked`, on a queue, instead of ending the program. One
    /// more than 2 s later ends it.
    init(whenAsked: @escaping @Sendable () -> Void = {}) {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                let now = DispatchTime.now().uptimeNanoseconds
                if flag.exchange(true, ordering: .acquiringAndReleasing) {
                    if now - moment.load(ordering: .relaxed) < Self.patience { return }
                    exit(ExitStatus.interrupted.rawValue)
                }
                moment.store(now, ordering: .relaxed)
                whenAsked()
            }
            source.resume()
            // The program listens until it ends.
            _ = unsafe Unmanaged.passRetained(source as AnyObject)
        }
    }

    /// Whether somebody asked.
    var isAsked: Bool { flag.load(ordering: .acquiring) }
}
