import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Plain types, and properties that are stored by their `Codable`, that another version of the app declares otherwise.
@Suite("documents of another version of a plain type") struct CodableVersionTests {
  struct Priced<Price: Codable & Sendable>: Codable, Identifiable, Sendable {
    var id: Int
    var price: Price
  }

  struct Size: Codable, Sendable, Equatable { var width = 0 }

  enum Form: Codable, Sendable {
    case circle

    init(from decoder: any Decoder) throws {
      let name = try decoder.singleValueContainer().decode(String.self)
      guard name == "circle" else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: decoder.codingPath, debugDescription: "unknown form \(name)"))
      }
      self = .circle
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode("circle")
    }
  }

  struct Stubborn: Codable, Sendable {
    struct Refusal: Error {}
    init() {}
    init(from decoder: any Decoder) throws { throw Refusal() }
    func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: PathKey.self) }
  }

  private func check<Old: Codable & Sendable, New: Codable & Sendable>(
    _ old: Old, as type: New.Type, _ words: String
  ) throws {
    try withTemporaryStore { store in
      try store.repository(of: Priced<Old>.self, collection: "Item").save(Priced(id: 1, price: old))
      let repository = store.repository(of: Priced<New>.self, collection: "Item")
      nonisolated(unsafe) var report: UnreadableDocument?
      let query = repository.all.skippingUnreadable { report = $0 }
      #expect(try repository.fetch(query).isEmpty)
      let document = try #require(report, "\(old) as \(type)")
      #expect(document.isFromOtherVersion, "\(document)")
      let text = "\(document)"
      #expect(text.contains(words) && text.contains("It is not damaged"), "\(text)")
      #expect(
        throws: StoreError.damagedRecord(collection: "Item", key: "1", reason: document.reason)
      ) { try repository.get(1) }
      #expect(try store.repository(of: Priced<Old>.self, collection: "Item").count() == 1)
    }
  }

  @Test("are said to be that, and not to be damaged")
  func misfits() throws {
    try check("5", as: Int.self, "price: expected an integer, found a string")
    try check("5", as: [Int].self, "price: expected an array, found a string")
    try check("5", as: Date.self, "price: expected a date, found a string")
    try check("5", as: Size.self, "price: expected a dictionary, found a string")
    try check(5, as: String.self, "price: expected a string, found an integer")
    try check([5], as: [Int: Int].self, "price: expected a dictionary, found an array")
    try check(Size(), as: String.self, "price: expected a string, found a document")
    try check("square", as: Form.self, "price: unknown form square")
    try check(Size(), as: Stubborn.self, "Refusal")
  }

  @Test("a type whose key is another one when it is decoded is refused before anything is saved")
  func lostKeys() throws {
    struct Fixed: Codable, Identifiable, Sendable {
      let id: UUID
      var text = ""
      init() { id = UUID() }
      init(from decoder: any Decoder) throws {
        id = UUID()
        text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .text)
      }
    }
    struct Unnamed: Codable, Identifiable, Sendable {
      var id = UUID()
      var text = ""
      enum CodingKeys: CodingKey { case text }
    }
    struct Computed: Codable, Identifiable, Sendable {
      var number = 5
      var id: String { "n\(number)" }
    }
    func check<Model: Codable & Identifiable & Sendable>(
      _ model: Model
    ) throws where Model.ID: DocumentKey {
      try withTemporaryStore { (store) throws -> Void in
        let repository = store.repository(of: Model.self)
        let memory = InMemoryRepository(of: Model.self)
        let saves: [() throws -> SaveReport] = [
          { try repository.save(model) }, { try memory.save(model) },
        ]
        for save in saves {
          let error = #expect(throws: StoreError.self) { _ = try save() }
          #expect(error.map { "\($0)".contains("Write `var id`") } == true)
        }
        #expect(try repository.count() == 0)
        #expect(try memory.count() == 0)
      }
    }
    try check(Fixed())
    try check(Unnamed())
    try withTemporaryStore { store in
      try store.repository(of: Computed.self).save(Computed())
      #expect(try store.repository(of: Computed.self).get("n5") != nil)
    }
  }

  @Test("every repository has a first page without a cursor")
  func firstPages() throws {
    let memory = InMemoryRepository(of: Priced<Int>.self)
    try memory.save([Priced(id: 1, price: 1), Priced(id: 2, price: 2)])
    let any: any Repository<Priced<Int>, CodableDocument<Priced<Int>>> = memory
    let query = CodableDocument<Priced<Int>>.all.limit(1)
    #expect(try memory.page(query).models.map(\.id) == [1])
    #expect(try any.page(query).models.map(\.id) == [1])
    try withTemporaryStore { store in
      let repository = store.repository(of: Priced<Int>.self)
      try repository.save([Priced(id: 1, price: 1), Priced(id: 2, price: 2)])
      #expect(try repository.page(query).models.map(\.id) == [1])
    }
  }
}
