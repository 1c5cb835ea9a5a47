/// What a session may ask of a build, and the version that first has it.
enum Feature: String, CaseIterable {
    case clips, buses, loops, solo
    case rates
    case inputs
    case sends, inserts
    case transport

    /// The version of Backline that reads sessions as this module does, in two numbers.
    static let thisVersion = "0.3"

    private static let built: Set<Feature> = [.clips, .buses, .loops, .solo, .rates]

    /// Whether this build has the feature.
    var isBuilt: Bool { Self.built.contains(self) }

    /// The first version that has the feature.
    var version: String {
        switch self {
        case .clips, .buses, .loops, .solo: "0.2"
        case .rates: "0.3"
        case .inputs: "0.4"
        case .sends, .inserts: "0.5"
        case .transport: "0.6"
        }
    }
}
