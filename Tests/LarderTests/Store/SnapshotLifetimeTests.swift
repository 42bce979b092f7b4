import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

// A snapshot counts no references to what threads that read share; others hold it.
@Suite struct SnapshotLifetimeTests {
  let folder = TestFolder()

  @Test("a snapshot keeps its catalogue, and the next one of its reader lets go of that")
  func catalogue() throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try notes.save(Note(id: "a", nonce: "", batchCount: 1))
    #expect(try notes.count() == 1)

    weak var first: Catalogue?
    try store.read { snapshot in
      first = snapshot.catalogue
      let declaring = Threads(1) { _ in
        for number in 0..<20 {
          try store.collection("things \(number)").save([["id": "a"]], keyField: "id")
          #expect(try notes.count() == 1)
        }
      }
      try declaring.join()
      #expect(store.engine.catalogue.version > snapshot.catalogue.version)
      #expect(first === snapshot.catalogue && snapshot.catalogue.collections.count == 1)
      #expect(try snapshot.get(Note.self, "a")?.id == "a")
      #expect(try snapshot.count(Note.all) == 1)
    }
    // Which of the two readers a thread takes first is not said.
    try store.read { snapshot in
      #expect(snapshot.catalogue.collections.count == 21)
      try store.read { #expect($0.catalogue.collections.count == 21) }
    }
    #expect(first == nil)
    try verifyAndClose(store)
  }

  @Test("a store of which nobody else knows any more is closed behind the snapshot, not within it")
  func lastReference() throws {
    var store: Store? = try Store(at: folder.store)
    try store?.repository(of: Note.self).save(Note(id: "a", nonce: "", batchCount: 1))
    weak let engine = store?.engine

    let isFound = try store?.read { snapshot in
      store = nil
      return try snapshot.get(Note.self, "a") != nil && engine != nil
    }

    #expect(isFound == true)
    #expect(engine == nil)
  }
}
