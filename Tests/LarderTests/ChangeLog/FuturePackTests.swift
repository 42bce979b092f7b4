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
  @Test("changes that were written while the clock was ahead age with those behind them")
  func ages() throws {
    let folder = TestFolder()
    var options = StoreOptions()
    options.changeLog.maximumAge = .milliseconds(1)
    let store = try Store(at: folder.store, options: options)
    let notes = store.repository(of: Note.self)
    try notes.save(Note(id: 0))
    try setForward(store, bySeconds: 10 * 365 * 86_400)

    for number in 1...30 {
      try notes.save(Note(id: 0, text: "\(number)"))
      usleep(3000)
    }

    #expect(try store.history(limit: 1000).changes.count < 30)
    try verifyAndClose(store)
  }

  /// Has the only pack of the log say another time.
  private func setForward(_ store: Store, bySeconds seconds: Double) throws {
    try store.write { scope in
      var (key, value): ([UInt8], [UInt8]) = ([], [])
      do {
        var cursor = try scope.transaction.cursor(in: scope.log)
        while try cursor.next() { (key, value) = ([UInt8](cursor.key), [UInt8](cursor.value)) }
      }
      let time = Date.now.timeIntervalSinceReferenceDate + seconds
      value.replaceSubrange(
        6..<14, with: withUnsafeBytes(of: time.bitPattern.bigEndian) { [UInt8]($0) })
      let body = [UInt8](value.dropLast(8))
      let first = key.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      let hash = body.withUnsafeBytes { Checksum.hash($0, seed: first) }
      let bytes = body + withUnsafeBytes(of: hash.bigEndian) { [UInt8]($0) }
      try key.withUnsafeBytes { key in
        try bytes.withUnsafeBytes { try scope.transaction.put($0, for: key, in: scope.log) }
      }
      scope.hasWrittenMore = true
    }
  }
}
