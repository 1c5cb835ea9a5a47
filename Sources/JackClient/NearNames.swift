/// The names most similar to one that does not exist, best first.
enum NearNames {
    /// At most `limit` of `candidates` that a person who typed `name` may have meant: the nearest by edit distance,
    /// as long as they share more than half of the name.
    static func of(_ name: String, in candidates: [String], limit: Int = 3) -> [String] {
        let wanted = Array(name.lowercased())
        let ranked = candidates.enumerated().compactMap { order, candidate -> (Int, Int, String)? in
            let distance = editDistance(wanted, Array(candidate.lowercased()))
            return distance * 2 < max(wanted.count, candidate.count) ? (distance, order, candidate) : nil
        }
        return ranked.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.prefix(limit).map(\.2)
    }

    /// Insertions, deletions and replacements that turn `a` into `b` (Levenshtein), row by row.
    private static func editDistance(_ a: [Character], _ b: [Character]) -> Int {
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let replaced = diagonal + (x == y ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, diagonal + 1, row[j] + 1)
            }
        }
        return row[b.count]
    }
}
