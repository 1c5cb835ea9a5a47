/// A track or a bus as read, before its id and its output are held against those of the others.
struct Draft<Value> {
    var value: Value

    /// What it is, for people: `track "guitar"`.
    let label: String

    /// Where it begins.
    let offset: Int

    /// The id that it says it has, in `id` or by its `name`, and where.
    let id: (id: String, offset: Int)?

    /// The bus that it says it feeds, and where.
    let output: (id: String, offset: Int)?

    /// Reads what tracks and buses say alike, and leaves the rest, `value`, to `read`.
    init(_ object: inout ObjectReader, _ read: (_ id: String, _ name: String, inout ObjectReader) -> Value) {
        label = object.label
        offset = object.offset
        let givenID = object.string("id")
        let name = object.string("name")
        if let givenID, let flaw = Identifiers.flaw(of: givenID) {
            object.report("id", "\(quoted(givenID)) cannot be an id: \(flaw)")
        } else if !object.has("id"), let name, let flaw = Identifiers.flaw(of: name) {
            object.report("name", "\(quoted(name)) cannot be an id: \(flaw); give one as \"id\"")
        } else if let name, !name.unicodeScalars.allSatisfy(isPrintable) {
            object.report("name", "contains what does not print")
        }
        id = (givenID ?? name).map { [object] in ($0, object.offset(of: givenID == nil ? "name" : "id")) }
        output = object.string("output").map { [object] in ($0, object.offset(of: "output")) }
        value = read(givenID ?? name ?? "", name ?? givenID ?? "", &object)
    }
}
