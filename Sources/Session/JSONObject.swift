/// A JSON object whose members keep their order and their places, and each of whose keys stands once.
struct JSONObject {
    /// A key, where it stands, and what it holds.
    struct Member {
        let key: String
        let offset: Int
        let node: JSONNode
    }

    private(set) var members: [Member] = []
    private var indices: [String: Int] = [:]

    subscript(key: String) -> Member? {
        indices[key].map { members[$0] }
    }

    /// Adds a member whose key is not there yet.
    mutating func append(_ member: Member) {
        indices[member.key] = members.count
        members.append(member)
    }
}
