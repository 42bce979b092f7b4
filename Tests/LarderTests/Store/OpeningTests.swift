import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@Suite(.timeLimit(.minutes(20))) struct OpeningTests {
  let folder = TestFolder()
  let note = Note(id: "a", nonce: "n", batchCount: 1)

  @Test("two stores on one folder share the data and close on their own")
  func twice() throws {
    let first = try Store(at: folder.store)
    let second = try Store(at: URL(filePath: folder.store))

    try first.repository(of: Note.self).save(note)

    #expect(try second.repository(of: Note.self).get("a") == note)
    try first.close()
    #expect(storeError { _ = try first.repository(of: Note.self).count() } == .closed)
    #expect(try second.repository(of: Note.self).count() == 1)
    try verifyAndClose(second)
  }

  @Test("opening a store does not wait for another one whose opening is held up")
  func apart() throws {
    let hasCome = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)
    _ = CallFaults.watch(folder.store) { call in
      if call == .openEnvironment {
        hasCome.signal()
        _ = mayGoOn.wait(timeout: .now() + 1000)
      }
      return nil
    }
    defer { CallFaults.stopWatching(folder.store) }
    let isOpen = Locked(false)
    let first = OnThread { [folder] in
      let store = try Store(at: folder.store)
      isOpen.withLock { $0 = true }
      return store
    }
    hasCome.wait()

    let second = try Store(at: folder.path + "/other")

    #expect(!isOpen.withLock { $0 })
    mayGoOn.signal()
    try verifyAndClose(try first.value())
    try verifyAndClose(second)
  }

  @Test("two who open one folder at once get the same store")
  func atOnce() throws {
    for _ in 0..<20 {
      let opened = (0..<4).map { _ in OnThread { [folder] in try Store(at: folder.store) } }
      let stores = try opened.map { try $0.value() }

      #expect(stores.allSatisfy { $0.engine === stores[0].engine })
      for store in stores { try store.close() }
    }
  }

  @Test("another spelling of the path opens the same store")
  func spellings() throws {
    let first = try Store(at: folder.store)
    try first.repository(of: Note.self).save(note)

    for spelling in [
      folder.store + "/", folder.path + "/./store",
      folder.path + "/../"
        + URL(filePath: folder.path).lastPathComponent + "//store",
    ] {
      let other = try Store(at: spelling)
      #expect(other.folder == first.folder)
      #expect(try other.repository(of: Note.self).count() == 1)
      try other.close()
    }
    try verifyAndClose(first)
  }

  @Test("a store that is open is refused with other options, and stays open")
  func otherOptions() throws {
    let store = try Store(at: folder.store)
    var small = StoreOptions()
    small.mapByteCount = 1 << 20
    var forgetful = StoreOptions()
    forgetful.changeLog.maximumAge = .seconds(60)
    var narrow = StoreOptions()
    narrow.maximumWaitingByteCount = 1 << 20

    var several = StoreOptions(isReadOnly: true)
    several.maximumReaderCount = 5
    several.maximumDatabaseCount = 5
    several.readThreadCount = 63
    var cautious = StoreOptions()
    cautious.quotaByteCount = 1 << 20
    cautious.reserveByteCount = 0
    cautious.writeTimeout = .seconds(1)

    for (options, names) in [
      (small, ["mapByteCount"]), (forgetful, ["changeLog"]), (narrow, ["maximumWaitingByteCount"]),
      (StoreOptions(durability: .recentCommitsMayBeLost), ["durability"]),
      (several, ["maximumDatabaseCount", "maximumReaderCount", "isReadOnly", "readThreadCount"]),
      (cautious, ["quotaByteCount", "reserveByteCount", "writeTimeout"]),
    ] {
      let error = storeError { _ = try Store(at: folder.store, options: options) }
      #expect(error == .optionsDiffer(path: folder.store, names: names))
      #expect("\(error, default: "none")".contains("(\(names.joined(separator: ", ")))"))
    }
    // What belongs to each opening may be its own.
    var careful = StoreOptions()
    careful.pageCheck = .always
    careful.log = { _ in }
    try Store(at: folder.store, options: careful).close()
    try store.repository(of: Note.self).save(note)
    try verifyAndClose(store)
    try Store(at: folder.store, options: small).close()
  }

  @Test("many threads that open and close one folder at once all get a store that works")
  func opensAtOnce() throws {
    try Threads(8) { number in
      for round in 0..<10 {
        let store = try Store(at: self.folder.store)
        let notes = store.repository(of: Note.self)
        try notes.save(Note(id: "\(number)-\(round)", nonce: "", batchCount: 1))
        #expect(try notes.get("\(number)-\(round)") != nil)
        try store.close()
      }
    }.join()

    let store = try Store(at: folder.store)
    #expect(try store.repository(of: Note.self).count() == 80)
    try verifyAndClose(store)
  }

  @Test("too many collections are one clear error, and the store goes on")
  func tooManyCollections() throws {
    var options = StoreOptions()
    options.maximumDatabaseCount = 4
    let store = try Store(at: folder.store, options: options)
    for number in 0..<4 {
      try store.collection("c\(number)").save([["id": "a"]], keyField: "id")
    }

    var refused: StoreError?
    for number in 4..<8 where refused == nil {
      do {
        try store.collection("c\(number)").save([["id": "a"]], keyField: "id")
      } catch {
        refused = error as? StoreError
      }
    }

    guard case .storage(let failure)? = refused else {
      Issue.record("thrown was \(String(describing: refused))")
      return
    }
    #expect(failure.code == .databasesFull)
    #expect(failure.description.contains("maximumDatabaseCount"))
    try store.collection("c0").save([["id": "b"]])
    #expect(try store.collection("c0").count() == 2)
    try verifyAndClose(store)
    try verifyAndClose(Store(at: folder.store, options: options))
  }
}
