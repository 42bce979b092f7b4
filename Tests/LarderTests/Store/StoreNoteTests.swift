import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct StoreNoteTests {
  @Test("a note is what was written last, until it is taken away, also after a reopening")
  func keeping() throws {
    let folder = TestFolder()
    do {
      let store = try Store(at: folder.store)
      #expect(try store.read { try $0.note("fetch/one") } == nil)
      try store.write { tx in
        try tx.setNote("fetch/one", to: [1])
        try tx.setNote("fetch/two", to: [])
        try tx.setNote("fetch/one", to: [1, 2, 3])
      }
      try store.close()
    }
    let store = try Store(at: folder.store)
    #expect(try store.read { try $0.note("fetch/one") } == [1, 2, 3])
    #expect(try store.read { try $0.note("fetch/two") } == [])

    try store.write { try $0.setNote("fetch/one", to: nil) }
    try store.write { try $0.setNote("fetch/none", to: nil) }

    #expect(try store.read { try $0.note("fetch/one") } == nil)
    #expect(try store.read { try $0.note("fetch/two") } == [])
    try verifyAndClose(store)
  }

  @Test("a note is no change, and of a write that throws nothing is kept")
  func quiet() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(Contact(id: "1"))
      let before = try store.read { $0.sequence }

      try store.write { try $0.setNote("one", to: [1]) }
      #expect(throws: StoreError.closed) {
        try store.write { tx in
          try tx.setNote("one", to: [2])
          throw StoreError.closed
        }
      }

      #expect(try store.read { try $0.note("one") } == [1])
      #expect(try store.read { $0.sequence } == before)
      #expect(try store.statistics().collections.map(\.name) == ["Contact"])
    }
  }

  @Test("a damaged note reads as none, is told of by a check, and can be written again")
  func damage() throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    try store.write { try $0.setNote("one", to: [1, 2]) }
    try store.write { tx in
      try tx.wholly { scope in
        try StoreNote.withKey("one") { key in
          try [UInt8](repeating: 7, count: 10).withUnsafeBytes {
            try scope.transaction.put($0, for: key, in: .main)
          }
        }
        scope.hasWrittenMore = true
      }
    }

    #expect(try store.read { try $0.note("one") } == nil)
    #expect(try store.check().problems.map(\.place) == ["note one"])
    try store.write { try $0.setNote("one", to: [3]) }

    #expect(try store.read { try $0.note("one") } == [3])
    try verifyAndClose(store)
  }

  @Test("the checksum of a note is bound to its name")
  func bound() throws {
    let bytes = StoreNote([1, 2]).encoded(name: "one")

    bytes.withUnsafeBytes { #expect(StoreNote($0, name: "one")?.bytes == [1, 2]) }
    bytes.withUnsafeBytes { #expect(StoreNote($0, name: "two") == nil) }
    for count in 0..<bytes.count {
      bytes[..<count].withUnsafeBytes { #expect(StoreNote($0, name: "one") == nil) }
    }
  }
}
