#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// How the data file was while nobody wrote to it; see `Environment.noteRest()`.
extension OpeningLock {
  // Behind the note of the session, and before the bytes of the bell.
  private static var restPlace: off_t { 96 }
  private static var restWord: String { "rest " }

  /// How the data file was when it was last noted while the store is open; nil where it was not.
  borrowing func rest() throws(LMDBError) -> FileStamp? {
    var bytes = [UInt8](repeating: 0, count: Self.restWord.utf8.count + 16)
    let count = pread(descriptor, &bytes, bytes.count, Self.restPlace)
    guard count >= 0 else { throw SystemCall.failure("pread", path: path) }
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    guard count == bytes.count, text.hasPrefix(Self.restWord),
      let number = UInt64(text.dropFirst(Self.restWord.count), radix: 16)
    else { return nil }
    return FileStamp(number: number)
  }

  borrowing func noteRest(_ stamp: FileStamp) { Self.noteRest(stamp, in: descriptor) }

  /// Written without the lock, also by several processes at once. A note that is too old, or half of
  /// one, fits no file, and costs the next opening a look at all pages.
  static func noteRest(_ stamp: FileStamp, in descriptor: Int32) {
    let digits = String(stamp.number, radix: 16)
    let text = restWord + String(repeating: "0", count: 16 - digits.count) + digits + "\n"
    let bytes = Array(text.utf8)
    _ = pwrite(descriptor, bytes, bytes.count, restPlace)
  }
}
