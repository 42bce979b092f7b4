import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct ForeignStoreTests {
  let folder = TestFolder()
  let note = Note(id: "a", nonce: "n", batchCount: 1)

  @Test("a URL of the network is no folder, wherever one is given, and nothing is made at its path")
  func networkURL() throws {
    let path = folder.path + "/remote"
    let url = try #require(URL(string: "https://example.org" + path))
    let store = try Store(at: folder.store)
    let error = storeError { _ = try Store(at: url) }

    guard case .notAStore(url.absoluteString, _)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(storeError { _ = try Store(published: url) } == error)
    #expect(storeError { try store.backup(to: url) } == error)
    #expect(storeError { try store.publish(Note.all, to: url) } == error)
    #expect(storeError { _ = try Store.restore(from: url, to: URL(filePath: path)) } == error)
    #expect(storeError { _ = try Store.quarantine(at: url) } == error)
    #expect(!FileManager.default.fileExists(atPath: path))
    // Without a scheme it is a path.
    try store.backup(to: #require(URL(string: path)))
    try verifyAndClose(store)
  }

  @Test("a data file that is no store is refused and untouched", arguments: Foreign.allCases)
  func foreignFile(kind: Foreign) throws {
    try FileManager.default.createDirectory(
      atPath: folder.store, withIntermediateDirectories: true)
    try kind.make(in: folder.store)
    let before = try contents(of: folder.data)

    let error = storeError { _ = try Store(at: folder.store) }

    let after = try contents(of: folder.data)
    #expect(after.count == before.count)
    guard case .notAStore(let path, let reason)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(path == folder.store)
    #expect(!reason.isEmpty)
    #expect(storeError { _ = try Store(at: folder.store) } == error)
  }

  enum Foreign: CaseIterable {
    case empty, text, randomBytes, zeros, otherProgram

    func make(in folder: String) throws {
      var generator = RandomSource(seed: 7)
      let bytes: Data
      switch self {
      case .empty: bytes = Data()
      case .text: bytes = Data("these are my notes\n".utf8)
      case .randomBytes:
        bytes = Data((0..<50_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
      case .zeros: bytes = Data(repeating: 0, count: 16_384)
      case .otherProgram:
        let environment = try Environment.open(at: folder)
        let database = try #require(try environment.database(named: "theirs", create: true))
        var transaction = try environment.beginWrite()
        try Array("key".utf8).withUnsafeBytes { try transaction.put($0, for: $0, in: database) }
        try Array("main".utf8).withUnsafeBytes { try transaction.put($0, for: $0, in: .main) }
        try transaction.commit()
        try environment.close()
        return
      }
      try replaceContents(of: folder + "/data.mdb", by: bytes)
    }
  }

  @Test("a folder that holds something else is refused and untouched")
  func foreignFolder() throws {
    try FileManager.default.createDirectory(
      atPath: folder.store, withIntermediateDirectories: true)
    try replaceContents(of: folder.store + "/letter.txt", by: Data("Dear".utf8))

    let error = storeError { _ = try Store(at: folder.store) }

    guard case .notAStore? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.store) == ["letter.txt"])
  }

  @Test("a truncated store is refused, and ends no process")
  func truncated() throws {
    let store = try Store(at: folder.store)
    var generator = RandomSource(seed: 1)
    for _ in 0..<20 {
      try store.repository(of: Note.self).save(
        Note.batch(nonce: 1, count: 50, using: &generator))
    }
    try store.close()
    let whole = try contents(of: folder.data)
    let program = try OtherProcess.executable()
    for pages in [2, 3, 5, whole.count / 8192, whole.count / 4096 - 1] {
      let part = whole.prefix(pages * 4096)
      try replaceContents(of: folder.data, by: part)
      let other = try OtherProcess(
        running: ["env", "SWIFT_BACKTRACE=enable=no", program, "open", folder.store])
      let lines = other.lines()
      let status = other.wait()
      // The last pages may have been free ones.
      let isHarmless = lines == ["open", "sound", "count 1000", "closed"]
      #expect(
        status == 1 && lines.first?.hasPrefix("error") == true || isHarmless,
        "\(pages) pages: \(status), \(lines)")
      #expect(try contents(of: folder.data) == part)
    }
  }

  @Test("a store of another format version is refused with both versions and untouched")
  func formatVersion() throws {
    try Store(at: folder.store).close()
    try withEnvironment(folder.store) { environment in
      var state = try #require(try environment.beginRead().state(path: folder.store))
      state.sequence = 1
      var transaction = try environment.beginWrite()
      var bytes = state.withBytes { [UInt8]($0) }
      bytes[8] = 9
      let hash = bytes.withUnsafeBytes {
        Checksum.hash(UnsafeRawBufferPointer(rebasing: $0[..<56]), seed: 0)
      }
      withUnsafeBytes(of: hash.littleEndian) { bytes.replaceSubrange(56..., with: $0) }
      try bytes.withUnsafeBytes { bytes in
        try WriteTransaction.stateKey.withKey { try transaction.put(bytes, for: $0, in: .main) }
      }
      try transaction.commit()
    }
    let before = try contents(of: folder.data)

    let error = storeError { _ = try Store(at: folder.store) }

    #expect(error == .formatVersion(path: folder.store, found: 9, supported: 1))
    #expect(try contents(of: folder.data) == before)
  }

  @Test("a store whose state record is damaged is refused and untouched")
  func damagedState() throws {
    try Store(at: folder.store).close()
    try withEnvironment(folder.store) { environment in
      let state = try #require(try environment.beginRead().state(path: folder.store))
      var bytes = state.withBytes { [UInt8]($0) }
      bytes[25] ^= 4
      var transaction = try environment.beginWrite()
      try bytes.withUnsafeBytes { bytes in
        try WriteTransaction.stateKey.withKey { try transaction.put(bytes, for: $0, in: .main) }
      }
      try transaction.commit()
    }
    let before = try contents(of: folder.data)

    let error = storeError { _ = try Store(at: folder.store) }

    guard case .damagedCatalogue? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(try contents(of: folder.data) == before)
  }

  @Test("a damaged description of a collection is refused with the collection's name")
  func damagedDescription() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(note)
    try store.close()
    try withEnvironment(folder.store) { environment in
      let database = try #require(
        try environment.database(named: Layout.catalogueName, create: false))
      try flip(in: environment, database, key: Array("Note".utf8), at: 5)
    }

    let error = storeError { _ = try Store(at: folder.store) }

    guard case .damagedCatalogue(let text)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(text.contains("Note"))
  }
}
