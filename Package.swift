// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is held to the same rules: Swift 6 mode, strict memory safety, no warning.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "Backline",
    products: [
        .library(name: "Backline", targets: ["Backline"]),
        .executable(name: "backline", targets: ["backline"]),
    ],
    targets: [
        // Render: what runs on the audio thread.
        .target(name: "CRealtime"),
        .target(name: "RealtimePrimitives", swiftSettings: strict),
        .target(
            name: "RenderCore", dependencies: ["CRealtime", "RealtimePrimitives"], swiftSettings: strict),

        // Streaming and control: what feeds and steers it.
        .target(
            name: "EngineHost", dependencies: ["CRealtime", "RealtimePrimitives", "RenderCore", "Stretch"],
            swiftSettings: strict),

        // The document: what a session file says.
        .target(name: "Session", swiftSettings: strict),

        // The engine's public face.
        .target(
            name: "Backline",
            dependencies: ["AudioFiles", "EngineHost", "JackClient", "RenderCore", "Session"],
            swiftSettings: strict),

        // The program.
        .executableTarget(
            name: "backline",
            dependencies: ["AudioFiles", "Backline", "CRealtime", "Doctor", "JackClient", "Session"],
            path: "Sources/BacklineCLI", swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])]),

        // What on a machine would spoil audio.
        .target(name: "Doctor", swiftSettings: strict),

        // Files: libsndfile reads and writes them, libav reads what it refuses, libsoxr converts their rates.
        .systemLibrary(name: "CSndfile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
        .systemLibrary(
            name: "CAvformat", pkgConfig: "libavformat",
            providers: [.apt(["libavformat-dev", "libavcodec-dev", "libavutil-dev"])]),
        .systemLibrary(name: "CSoxr", pkgConfig: "soxr", providers: [.apt(["libsoxr-dev"])]),
        .target(
            name: "AudioFiles", dependencies: ["CAvformat", "CSndfile", "CSoxr", "EngineHost"],
            swiftSettings: strict),

        // Rates: Rubber Band stretches, Backline's own varispeed plays as a tape does.
        .systemLibrary(
            name: "CRubberBand", pkgConfig: "rubberband", providers: [.apt(["librubberband-dev"])]),
        .target(name: "CStretchKernels"),
        .target(name: "Stretch", dependencies: ["CRubberBand", "CStretchKernels"], swiftSettings: strict),

        // JACK: the graph, the process callback, and the server.
        .systemLibrary(name: "CJack", pkgConfig: "jack", providers: [.apt(["libjack-jackd2-dev"])]),
        .target(
            name: "JackClient", dependencies: ["CJack", "CRealtime", "RenderCore"], swiftSettings: strict),

        // Tests.
        .target(
            name: "TestSupport", dependencies: ["EngineHost", "RenderCore"], path: "Tests/TestSupport",
            swiftSettings: strict),
        .executableTarget(
            name: "jack-capture-frames", dependencies: ["CJack"], path: "Tests/JackCapture"),
        .target(
            name: "LiveSupport", dependencies: ["JackClient", "RenderCore"],
            path: "Tests/LiveSupport", swiftSettings: strict),
        .testTarget(
            name: "JackClientTests",
            dependencies: [
                "CRealtime", "EngineHost", "JackClient", "LiveSupport", "RenderCore", "TestSupport",
                "jack-capture-frames",
            ],
            exclude: ["record-sequences"], resources: [.copy("Sequences")], swiftSettings: strict),
        .testTarget(
            name: "LiveTests",
            dependencies: [
                "AudioFiles", "Backline", "EngineHost", "JackClient", "LiveSupport", "RenderCore", "Session",
                "TestSupport", "backline", "jack-capture-frames",
            ], swiftSettings: strict),
        .testTarget(
            name: "RealtimePrimitivesTests", dependencies: ["RealtimePrimitives", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "RenderCoreTests", dependencies: ["EngineHost", "RenderCore", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "EngineHostTests", dependencies: ["CRealtime", "EngineHost", "RenderCore", "TestSupport"],
            swiftSettings: strict),
        // What the checks must catch. Exit tests expand to code that strict memory safety refuses.
        .testTarget(
            name: "ProofTests", dependencies: ["CRealtime"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .testTarget(name: "SessionTests", dependencies: ["Session"], swiftSettings: strict),
        .testTarget(
            name: "StretchTests", dependencies: ["Stretch", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "DoctorTests", dependencies: ["Doctor"], swiftSettings: strict),
        .testTarget(
            name: "BacklineCLITests", dependencies: ["Doctor", "LiveSupport", "TestSupport", "backline"],
            swiftSettings: strict),
        .testTarget(
            name: "AudioFilesTests", dependencies: ["AudioFiles", "EngineHost"], swiftSettings: strict),
    ]
)
