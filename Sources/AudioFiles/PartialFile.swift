import Glibc

/// A file on its way to a name: it is written beside it, under a name of its own, and takes the real one only when
/// it is whole. So nobody finds half a file, and a file that it replaces stays until then.
@safe final class PartialFile {
    /// The name to be.
    let path: String
    /// Why a call failed, of the first that did; nil while none has.
    private(set) var failure: String?

    private let replaces: Bool
    private let folder: String
    private let partialPath: String
    private var descriptor: Int32

    /// Creates the file; throws where `path` is taken and `force` is not given, or where it is no place for a file.
    init(path: String, force: Bool) throws(AudioFileError) {
        self.path = path
        replaces = force
        var status = stat()
        if unsafe lstat(path, &status) == 0 {
            guard force else { throw .exists(path: path) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw .cannotCreate(path: path, reason: "what is there now is not a regular file")
            }
        }
        let slash = path.lastIndex(of: "/")
        folder = slash.map { String(path[...$0]) } ?? "./"
        guard slash != path.indices.last, !path.isEmpty else {
            throw .cannotCreate(path: path, reason: "it names a folder")
        }
        partialPath = folder + ".backline-" + String(UInt64.random(in: .min ... .max), radix: 36) + ".part"
        descriptor = unsafe open(partialPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw .cannotCreate(path: path, reason: systemReason(errno)) }
    }

    deinit { discard() }

    /// Gives the file its name, on the disk too; throws, and removes it, where a call on it has failed.
    func commit() throws(AudioFileError) {
        defer { discard() }
        if fsync(descriptor) != 0 { fail() }
        if let failure { throw .cannotWrite(path: path, reason: failure) }
        if replaces {
            guard unsafe rename(partialPath, path) == 0 else {
                throw .cannotCreate(path: path, reason: systemReason(errno))
            }
        } else if unsafe link(partialPath, path) != 0 {
            // Some file systems have no links; there the check and the renaming are two steps.
            guard errno != EEXIST, unsafe access(path, F_OK) != 0 else { throw .exists(path: path) }
            guard unsafe rename(partialPath, path) == 0 else {
                throw .cannotCreate(path: path, reason: systemReason(errno))
            }
        }
        let directory = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }

    /// Removes what has not taken its name.
    func discard() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        unsafe unlink(partialPath)
    }

    /// Bytes in the file.
    var length: Int64 {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? Int64(status.st_size) : -1
    }

    /// Moves the place, as `lseek` does, and returns it.
    func seek(by offset: Int64, from whence: Int32) -> Int64 { Int64(lseek(descriptor, Int(offset), whence)) }

    /// Sets the time of day in a PEAK chunk to nothing, so that the same samples make the same bytes: libsndfile
    /// 1.2.0 cannot be told to leave that chunk out of an RF64 file, or of the WAV file that one turns into.
    func clearPeakTime() {
        var header = [UInt8](repeating: 0, count: 512)
        _ = seek(by: 0, from: SEEK_SET)
        let length = unsafe header.withUnsafeMutableBytes {
            unsafe read(into: $0.baseAddress!, byteCount: $0.count)
        }
        // The chunk's name, its size, its version, and then the time in four bytes.
        guard let chunk = header.prefix(length).firstRange(of: Array("PEAK".utf8)) else { return }
        guard let data = header.prefix(length).firstRange(of: Array("data".utf8)),
            chunk.lowerBound < data.lowerBound
        else { return }
        let time: [UInt8] = [0, 0, 0, 0]
        _ = seek(by: Int64(chunk.upperBound + 8), from: SEEK_SET)
        _ = unsafe time.withUnsafeBytes { unsafe write($0.baseAddress!, byteCount: $0.count) }
    }

    /// Reads at the place and returns how many bytes it read.
    func read(into bytes: UnsafeMutableRawPointer, byteCount: Int) -> Int {
        transfer(byteCount) { done in unsafe Glibc.read(descriptor, bytes + done, byteCount - done) }
    }

    /// Writes at the place and returns how many bytes it wrote; fewer mean that `failure` says why.
    func write(_ bytes: UnsafeRawPointer, byteCount: Int) -> Int {
        transfer(byteCount) { done in unsafe Glibc.write(descriptor, bytes + done, byteCount - done) }
    }

    private func transfer(_ byteCount: Int, _ call: (Int) -> Int) -> Int {
        var done = 0
        while done < byteCount {
            let n = call(done)
            if n < 0, errno == EINTR { continue }
            if n < 0 { fail() }
            if n <= 0 { break }
            done += n
        }
        return done
    }

    private func fail() {
        if failure == nil { failure = systemReason(errno) }
    }
}

/// The system's words for `code`.
func systemReason(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
