import Dispatch
import Glibc
import Synchronization

/// ^C and SIGTERM: asked for, not sprung on the program.
final class Interruption: Sendable {
    private let flag = Atomic<Bool>(false)

    /// From now on ^C and SIGTERM call `whenAsked`, on a queue, instead of ending the program. A second one ends it.
    init(whenAsked: @escaping @Sendable () -> Void = {}) {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                if flag.exchange(true, ordering: .acquiringAndReleasing) {
                    exit(ExitStatus.interrupted.rawValue)
                }
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
