import Foundation
import Testing

@testable import LarderLMDB

@Suite("errors")
struct LMDBErrorTests {
  @Test("an error names what failed, where, why, and what to do next")
  func description() {
    let error = LMDBError(
      .mapFull, operation: "mdb_put", path: "/store", detail: "the map of 10 bytes is full")

    #expect(
      error.description == "mdb_put on /store: the map of 10 bytes is full. "
        + "Nothing of this transaction is kept; delete records or open with a larger "
        + "mapByteCount.")
  }

  @Test(
    "a failure of the system that has to do with the store's place or the process says what to do",
    arguments: [
      (ENOENT, "Check the path"), (ENOTDIR, "Check the path"), (ENAMETOOLONG, "shorter path"),
      (EROFS, "isReadOnly"), (EMFILE, "raise this process's limit"), (ENFILE, "raise the system's"),
      (ENOMEM, "mapByteCount"), (EAGAIN, "Try again"), (EACCES, "who owns"), (EPERM, "who owns"),
      (ENOSPC, "disk space"),
    ])
  func advice(number: Int32, words: String) {
    let error = SystemCall.failure(number, "open", path: "/store")

    #expect(error.description.contains(words))
    #expect(error.description.hasSuffix("."))
  }

  @Test("only LMDB 0.9 is accepted")
  func version() throws {
    try Environment.checkLibrary(major: 0, minor: 9, text: "LMDB 0.9.35")
    for (major, minor) in [(0, 8), (1, 0), (0, 10)] as [(Int32, Int32)] {
      let error = failure {
        try Environment.checkLibrary(major: major, minor: minor, text: "LMDB \(major).\(minor)")
      }
      #expect(error?.code == .libraryVersion)
      #expect(error?.description.contains("LMDB \(major).\(minor)") == true)
    }
  }
}
