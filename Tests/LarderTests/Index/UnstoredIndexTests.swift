import Larder
import LarderTesting
import Testing

/// Indexes over what no record holds.
@Suite struct UnstoredIndexTests {
  /// What an index that is declared in this file is refused with: by a store as its type is declared,
  /// and by a repository in memory as one is saved.
  private func refusal<Entity: Document>(of document: Entity) throws -> String {
    try withTemporaryStore { store in
      let type = Entity.self
      let error = try #require(throws: StoreError.self) { try store.declare(type) }
      let inMemory = InMemoryRepository(of: type)
      #expect(throws: error) { try inMemory.save([document]) }
      #expect(try inMemory.count() == 0)
      guard case .indexNotAllowed("\(type)", _, let reason) = error else {
        Issue.record("\(error)")
        return ""
      }
      return reason
    }
  }

  @Test("an index over a stored property with a coding of its own is refused by its name")
  func coded() throws {
    let reason = try refusal(of: CodedTrip(id: 1, route: Route(names: [])))
    #expect(reason.hasPrefix("it names `route` in LarderTests/UnstoredIndexTests.swift:"))
    #expect(reason.hasSuffix("in a property of its own, and name that one"))
  }

  @Test("an index over what is made of a stored property is refused by both names")
  func derived() throws {
    #expect(
      try refusal(of: CountedTrip(id: 1, stops: [])).hasPrefix(
        "it names `stops.count` in LarderTests/"))
  }

  @Test("an index over such a property of an embedded document is refused by the whole way to it")
  func inner() throws {
    #expect(try refusal(of: InnerTrip(id: 1)).hasPrefix("it names `leg.route` in LarderTests/"))
  }

  @Test("an index over a computed property is refused with its line, and its name or type")
  func computed() throws {
    let reason = try refusal(of: ComputedTrip(id: 1))
    let line = ComputedTrip.line
    #expect(
      reason.hasPrefix(
        "it names `title` in LarderTests/UnstoredIndexTests.swift:\(line), which is computed")
        || reason.hasPrefix(
          "it names a computed property of type `String` in "
            + "LarderTests/UnstoredIndexTests.swift:\(line), which is computed")
    )
  }

  @Test("a condition on a computed property is refused with the line of its index")
  func condition() throws {
    let reason = try refusal(of: PartialTrip(id: 1))
    #expect(
      reason.hasPrefix("its condition in LarderTests/UnstoredIndexTests.swift:"), "\(reason)")
  }
}

private struct Route: Codable, Equatable { var names: [String] }

@Document
private struct CodedTrip {
  var id: Int
  var route: Route

  static let indexes: [Index<CodedTrip>] = [Index(\.route)]
}

@Document
private struct CountedTrip {
  var id: Int
  var stops: [String]

  static let indexes: [Index<CountedTrip>] = [Index(.descending(\.stops.count))]
}

@EmbeddedDocument
private struct Leg: Equatable {
  var route: Route
}

@Document
private struct InnerTrip {
  var id: Int
  var leg: Leg?

  static let indexes: [Index<InnerTrip>] = [Index(\.id, \.leg.route)]
}

@Document
private struct ComputedTrip {
  var id: Int
  var title: String { "\(id)" }

  static let line = #line + 1
  static let indexes: [Index<ComputedTrip>] = [Index(\.title)]
}

@Document
private struct PartialTrip {
  var id: Int
  var title: String { "\(id)" }

  static let indexes: [Index<PartialTrip>] = [Index(\.id, where: { $0.title == "1" })]
}
