// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "Backline", path: "..")],
    targets: [
        // Goes from place to place through the library, and says when it was asked to.
        .executableTarget(
            name: "locate", dependencies: [.product(name: "Backline", package: "Backline")],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        // Changes a session's rate again and again, through the library.
        .executableTarget(
            name: "changes", dependencies: [.product(name: "Backline", package: "Backline")],
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
