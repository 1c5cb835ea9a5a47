/// Finds what somebody meant to write: in a session file, and on the command line.
package enum Spelling {
    /// `; did you mean "volume"?`, or nothing where no candidate is near.
    static func hint(for word: String, among candidates: some Sequence<String>) -> String {
        nearest(to: word, among: candidates).map { "; did you mean \(quoted($0))?" } ?? ""
    }

    /// The candidate that differs least from `word`, if any is near: up to a third of the word may be wrong.
    ///
    /// Upper and lower case are the same here, and the beginning of a candidate is near to it.
    package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        // Nothing that is right is longer, and the work for each word stays small in a file made to make it big.
        let byteLimit = 64
        guard word.utf8.count <= byteLimit else { return nil }
        let letters = Array(word.lowercased().unicodeScalars)
        let tolerance = min(max(1, (letters.count + 1) / 3), letters.count - 1)
        var best: (candidate: String, distance: Int)?
        for candidate in candidates.prefix(100) where candidate.utf8.count <= byteLimit {
            let others = Array(candidate.lowercased().unicodeScalars)
            let isBeginning = letters.count > 1 && others.starts(with: letters)
            let distance = isBeginning ? 1 : distance(letters, others, within: tolerance)
            if distance <= tolerance, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.candidate
    }

    /// How many letters are to be put in, taken out, replaced or swapped with their neighbours to make one word
    /// of the other; more than `tolerance` where their lengths alone say so.
    private static func distance(
        _ left: [Unicode.Scalar], _ right: [Unicode.Scalar], within tolerance: Int
    ) -> Int {
        guard abs(left.count - right.count) <= tolerance else { return tolerance + 1 }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                let replaced = last[column] + (letter == other ? 0 : 1)
                var cost = min(last[column + 1] + 1, current[column] + 1, replaced)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
