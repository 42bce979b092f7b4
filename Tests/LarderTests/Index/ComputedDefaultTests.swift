import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// As one process declares the collection, whose default is the time of its start.
@Document(as: "Visit")
private struct EarlierVisit: Identifiable, Equatable {
  var id: Int
  @Indexed var at = Date(timeIntervalSinceReferenceDate: 1)
}

/// As another process does.
@Document(as: "Visit")
private struct LaterVisit: Identifiable, Equatable {
  var id: Int
  @Indexed var at = Date(timeIntervalSinceReferenceDate: 2)
}

@Suite("an index over a field whose default is another one in each process")
struct ComputedDefaultTests {
  @Test("is built anew, which is logged once, and queries find what the documents have")
  func logged() throws {
    let folder = TestFolder()
    let events = Locked<[LogEvent]>([])
    var options = StoreOptions()
    options.log = { event in events.withLock { $0.append(event) } }
    func told() -> [LogEvent] {
      events.withLock { $0 }.filter { $0.message.contains("the default of a field is another one") }
    }
    let store = try Store(at: folder.store, options: options)
    try store.repository(of: EarlierVisit.self).save(EarlierVisit(id: 1))
    // Read by its default, as it was stored without the field.
    try store.collection("Visit").save([["id": 2]])
    #expect(told().isEmpty)

    let later = store.repository(of: LaterVisit.self)
    try later.save(LaterVisit(id: 3))
    #expect(told().map(\.level) == [.warning])
    #expect(told().first?.metadata == ["collection": "Visit", "index": "at"])
    try later.save(LaterVisit(id: 4))
    #expect(told().count == 1)

    try store.collection("Visit").buildIndexes()
    let query = LaterVisit.where { $0.at == Date(timeIntervalSinceReferenceDate: 2) }
    #expect(try later.fetch(query).map(\.id) == [2, 3, 4])
    try verifyAndClose(store)
  }
}
