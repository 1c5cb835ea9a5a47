import Foundation
import Glibc

/// What an MP4 file's header says that libav does not pass on: edit lists to the unit, and the names of stems.
///
/// The layout of boxes is that of ISO/IEC 14496-12; the `stem` box that of Native Instruments' Stem format, 1.1.
struct Mp4Header {
    /// A piece of a track's media, at its place in the presentation.
    struct Edit: Equatable {
        /// How long it is, in units of the header's clock.
        let duration: Int64
        /// Where in the media it begins, in units of the track's clock; −1 for a pause.
        let mediaTime: Int64
    }

    /// A track of sound.
    struct Track {
        var id: Int32 = 0
        /// Units of the track's clock in a second.
        var timescale: Int64 = 0
        /// In units of the track's clock.
        var duration: Int64 = 0
        var edits: [Edit] = []
        var isSound = false
    }

    /// Units of the header's clock in a second.
    private(set) var timescale: Int64 = 0
    private(set) var tracks: [Track] = []
    /// Whether more of the tracks lies in fragments behind the header, which then tells no lengths.
    private(set) var isFragmented = false
    /// The stems' names where the file is a stem file: a mix, and its parts in the streams behind it.
    private(set) var stemNames: [String]?

    /// A header is larger than this only where it lies.
    private static let largestHeader = 64 << 20

    /// Reads the header of the file at `path`; nil where there is none.
    init?(path: String) {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        var place: UInt64 = 0
        // Between the boxes of a sound file there are few others; fragments come behind the header.
        for _ in 0..<1_000 {
            guard (try? file.seek(toOffset: place)) != nil, let head = try? file.read(upToCount: 16) else {
                return nil
            }
            guard let (size, name, headerSize) = Self.boxHead([UInt8](head)[...]) else { return nil }
            guard name == "moov" else {
                guard size > 0 else { return nil }
                place += UInt64(size)
                continue
            }
            let length = size == 0 ? Self.largestHeader : min(size, Self.largestHeader)
            guard (try? file.seek(toOffset: place + UInt64(headerSize))) != nil,
                let body = try? file.read(upToCount: length - headerSize)
            else { return nil }
            read([UInt8](body)[...], in: "moov")
            return
        }
        return nil
    }

    /// Reads the boxes that `bytes` holds; those of interest, and what holds them.
    private mutating func read(_ bytes: ArraySlice<UInt8>, in parent: String) {
        var rest = bytes
        while let (size, name, headerSize) = Self.boxHead(rest) {
            let length = size == 0 ? rest.count : min(size, rest.count)
            let body = rest.prefix(length).dropFirst(headerSize)
            switch (parent, name) {
            case ("moov", "trak"):
                tracks.append(Track())
                read(body, in: name)
                if tracks.last?.isSound == false { tracks.removeLast() }
            case ("moov", "udta"), ("trak", "mdia"), ("trak", "edts"): read(body, in: name)
            case ("moov", "mvex"): isFragmented = true
            case ("udta", "stem"): stemNames = Self.stemNames(body)
            case ("moov", "mvhd"): timescale = Self.clock(body).timescale
            default: if !tracks.isEmpty { readTrackBox(name, body) }
            }
            rest = rest.dropFirst(length)
        }
    }

    private mutating func readTrackBox(_ name: String, _ body: ArraySlice<UInt8>) {
        let track = tracks.count - 1
        let isLong = body.first == 1
        switch name {
        case "tkhd":
            tracks[track].id = Int32(truncatingIfNeeded: Self.number(body.dropFirst(isLong ? 20 : 12), 4))
        case "hdlr": tracks[track].isSound = body.dropFirst(8).prefix(4).elementsEqual("soun".utf8)
        case "mdhd": (tracks[track].timescale, tracks[track].duration) = Self.clock(body)
        case "elst": tracks[track].edits = Self.edits(body, isLong: isLong)
        default: break
        }
    }

    /// The clock and the length in a movie's or a track's header.
    private static func clock(_ body: ArraySlice<UInt8>) -> (timescale: Int64, duration: Int64) {
        let isLong = body.first == 1
        let times = body.dropFirst(isLong ? 20 : 12)
        return (number(times, 4), number(times.dropFirst(4), isLong ? 8 : 4))
    }

    private static func edits(_ body: ArraySlice<UInt8>, isLong: Bool) -> [Edit] {
        let width = isLong ? 8 : 4
        let count = Int(min(number(body.dropFirst(4), 4), 10_000))
        var rest = body.dropFirst(8)
        var edits: [Edit] = []
        for _ in 0..<count where rest.count >= 2 * width + 4 {
            let time = number(rest.dropFirst(width), width)
            edits.append(
                Edit(
                    duration: number(rest, width),
                    mediaTime: isLong ? time : Int64(Int32(truncatingIfNeeded: time))))
            rest = rest.dropFirst(2 * width + 4)
        }
        return edits
    }

    private static func stemNames(_ body: ArraySlice<UInt8>) -> [String] {
        struct Stems: Decodable {
            struct Stem: Decodable { let name: String? }
            let stems: [Stem]
        }
        let stems = try? JSONDecoder().decode(Stems.self, from: Data(body))
        return stems?.stems.map { $0.name ?? "" } ?? []
    }

    /// The size of a box with its head, 0 for all that is left; its name; and the size of the head.
    private static func boxHead(_ bytes: ArraySlice<UInt8>) -> (size: Int, name: String, headerSize: Int)? {
        guard bytes.count >= 8 else { return nil }
        let name = String(decoding: bytes.dropFirst(4).prefix(4), as: UTF8.self)
        let short = Int(number(bytes, 4))
        guard short == 1 else { return short == 0 || short >= 8 ? (short, name, 8) : nil }
        guard bytes.count >= 16 else { return nil }
        let long = number(bytes.dropFirst(8), 8)
        return 16...(1 << 50) ~= long ? (Int(long), name, 16) : nil
    }

    /// A number of `width` bytes, the highest first; 0 where they are not there.
    private static func number(_ bytes: ArraySlice<UInt8>, _ width: Int) -> Int64 {
        guard bytes.count >= width else { return 0 }
        return Int64(bitPattern: bytes.prefix(width).reduce(0) { $0 << 8 | UInt64($1) })
    }
}
