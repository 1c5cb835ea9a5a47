/// `text` in double quotes, fit for one line of a terminal: what does not print is escaped, and what is long is
/// cut.
func quoted(_ text: String) -> String {
    let limit = 60
    var result = "\""
    for scalar in text.unicodeScalars.prefix(limit) {
        switch scalar {
        case "\"", "\\": result += "\\\(scalar)"
        case _ where isPrintable(scalar): result.unicodeScalars.append(scalar)
        default: result += "\\u{\(hexadecimal(scalar.value, digits: 4))}"
        }
    }
    return result + (text.unicodeScalars.dropFirst(limit).isEmpty ? "\"" : "…\"")
}

/// `number` as a person would write it: without the `.0` of a whole one.
func plain(_ number: Double) -> String {
    Int64(exactly: number).map { String($0) } ?? number.description
}

/// `value` in base 16, with zeros in front up to `digits`.
func hexadecimal(_ value: some BinaryInteger, digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}

/// Whether `scalar` has a shape, or is a space.
func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
}
