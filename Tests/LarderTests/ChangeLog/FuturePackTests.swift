import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@Document private struct Note: Identifiable {
  var id: Int
  var text = ""
}

@Suite struct FuturePackTests {
  @Test(
    "changes that were written while the clock was ahead age with those behind them",
    arguments: [1, 2, 20, 200])
  func ages(_ count: Int) throws {
    let folder = TestFolder()
    var options = StoreOptions()
    options.changeLog.maximumAge = .milliseconds(1)
    let store = try Store(at: folder.store, options: options)
    let notes = store.repository(of: Note.self)
    for number in 1...count { try notes.save(Note(id: 0, text: "before \(number)")) }
    try setForward(store, bySeconds: 10 * 365 * 86_400)

    for number in 1...30 {
      try notes.save(Note(id: 0, text: "\(number)"))
      usleep(3000)
    }

    #expect(try store.history(limit: 1000).changes.count < 30)
    #expect(try store.history(limit: 1000).changes.allSatisfy { $0.sequence > count })
    try verifyAndClose(store)
  }

  /// Has the packs of the log say another time.
  private func setForward(_ store: Store, bySeconds seconds: Double) throws {
    try store.write { scope in
      var packs: [(key: [UInt8], value: [UInt8])] = []
      do {
        var cursor = try scope.transaction.cursor(in: scope.log)
        while try cursor.next() { packs.append(([UInt8](cursor.key), [UInt8](cursor.value))) }
      }
      let time = Date.now.timeIntervalSinceReferenceDate + seconds
      for var pack in packs {
        pack.value.replaceSubrange(
          6..<14, with: withUnsafeBytes(of: time.bitPattern.bigEndian) { [UInt8]($0) })
        let body = [UInt8](pack.value.dropLast(8))
        let first = pack.key.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        let hash = body.withUnsafeBytes { Checksum.hash($0, seed: first) }
        let bytes = body + withUnsafeBytes(of: hash.bigEndian) { [UInt8]($0) }
        try pack.key.withUnsafeBytes { key in
          try bytes.withUnsafeBytes { try scope.transaction.put($0, for: key, in: scope.log) }
        }
      }
      scope.hasWrittenMore = true
    }
  }
}
