import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Sections and extremes by enums, whose order is not that of their raw values.
@Suite struct EnumSectionTests {
  enum Kind: String, Storable, Comparable, CaseIterable {
    case small = "z"
    case medium = "a"
    case large = "m"

    static func < (left: Self, right: Self) -> Bool { left.place < right.place }
    private var place: Int { self == .small ? 0 : self == .medium ? 1 : 2 }
  }

  /// Tells only two of its cases apart.
  enum Level: Int, Storable, Comparable, CaseIterable {
    case one = 3
    case other = 2
    case last = 1

    static func < (left: Self, right: Self) -> Bool { left != .last && right == .last }
  }

  // Its names are those that Larder once gave to every model.
  @Document
  struct Parcel: Identifiable, Equatable {
    var id: Int
    var kind = Kind.small
    var maybe: Kind?
    var level = Level.one
    var load = 0
    var store = ""
    var absent = false
    var mayStoreNil = false
  }

  private static let parcels: [Parcel] = {
    let kinds: [Kind] = [.large, .small, .medium, .small, .large, .medium]
    let maybes: [Kind?] = [nil, .large, .small, nil, .small, .medium]
    let levels: [Level] = [.last, .other, .one, .other, .one, .last]
    return (0..<6).map { Parcel(id: $0, kind: kinds[$0], maybe: maybes[$0], level: levels[$0]) }
  }()

  private func withRepositories(
    _ body: (any Repository<Parcel, Parcel>) throws -> Void
  ) throws {
    let memory = InMemoryRepository(of: Parcel.self)
    try memory.save(Self.parcels)
    try body(memory)
    try withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try parcels.save(Self.parcels)
      try body(parcels)
    }
  }

  @Test("sections by an enum come in the enum's own order, also turned round by the query")
  func ownOrder() throws {
    try withRepositories { parcels in
      let sections = try parcels.sections(by: \.kind, of: Parcel.all.sorted(by: \.id, .reverse))
      let reversed = try parcels.sections(by: \.kind, of: Parcel.all.sorted(by: \.kind, .reverse))

      #expect(sections.map(\.key) == [.small, .medium, .large])
      #expect(sections.map { $0.models.map(\.id) } == [[3, 1], [5, 2], [4, 0]])
      #expect(reversed.map(\.key) == [.large, .medium, .small])
    }
  }

  @Test("nil comes first among sections by an enum that may be nil, and counts for no extreme")
  func optional() throws {
    try withRepositories { parcels in
      let sections = try parcels.sections(by: \.maybe)

      #expect(sections.map(\.key) == [nil, .small, .medium, .large])
      #expect(sections.map { $0.models.map(\.id) } == [[0, 3], [2, 4], [5], [1]])
      #expect(try parcels.min(\.maybe) == .small)
      #expect(try parcels.max(\.maybe) == .large)
      #expect(try parcels.min(\.maybe, of: Parcel.where { $0.id == 0 }) == nil)
    }
  }

  @Test("cases that the enum's own order does not tell apart have a section each")
  func ties() throws {
    try withRepositories { parcels in
      let sections = try parcels.sections(by: \.level, of: Parcel.all.sorted(by: \.level))

      #expect(sections.map(\.key) == [.other, .one, .last])
      #expect(sections.map { $0.models.map(\.id) } == [[1, 3], [2, 4], [0, 5]])
    }
  }

  @Document
  struct Crate: Identifiable, Equatable {
    var id: Int
    var level: Level?
  }

  @Test("sections by an enum that may be nil keep the query's direction, wherever it has nil")
  func nilPlacement() async throws {
    let levels: [Level?] = [.last, nil, .one, .other, .one]
    let crates = levels.enumerated().map { Crate(id: $0, level: $1) }
    let cases: [(SortOrder, NilPlacement, [Level?])] = [
      (.forward, .first, [nil, .other, .one, .last]),
      (.forward, .last, [.other, .one, .last, nil]),
      (.reverse, .first, [nil, .last, .one, .other]),
      (.reverse, .last, [.last, .one, .other, nil]),
    ]
    try await withTemporaryStore { store in
      let repositories: [any Repository<Crate, Crate>] = [
        store.repository(of: Crate.self), InMemoryRepository(of: Crate.self),
      ]
      for repository in repositories {
        try await repository.save(crates)
        for (direction, nils, keys) in cases {
          let sorted = Crate.all.sorted(by: \.level, direction, nils: nils)
          for query in [sorted, sorted.limit(100)] {
            let expected = keys.map { key in crates.filter { $0.level == key } }

            let fetched = try repository.sections(by: \.level, of: query)
            var watch = repository.watch(sections: query, by: \.level).makeAsyncIterator()
            let watched = try #require(try await watch.next())
            let rows = watched.map { Array($0.rows) }

            #expect(fetched.map(\.key) == keys, "\(query)")
            #expect(fetched.map(\.models) == expected, "\(query)")
            #expect(watched.map(\.key) == keys, "\(query)")
            #expect(rows == expected, "\(query)")
          }
        }
      }
    }
  }

  @Test("watched sections by an enum are those of a fetch, for every order and limit")
  func watched() async throws {
    try await withTemporaryStore { store in
      let memory = InMemoryRepository(of: Parcel.self)
      let all = Parcel.all
      let queries = [
        all, all.sorted(by: \.id, .reverse), all.sorted(by: \.level),
        all.sorted(by: \.level, .reverse),
        all.sorted(by: \.kind).sorted(by: \.id, .reverse),
        all.sorted(by: \.level, .reverse).limit(4),
        all.sorted(by: \.id).limit(5).offset(1),
        all.sorted(by: \.maybe), all.sorted(by: \.maybe, .reverse),
        all.sorted(by: \.maybe, .reverse).sorted(by: \.id).limit(4),
      ]
      for parcels in [store.repository(of: Parcel.self), memory] as [any Repository<Parcel, Parcel>]
      {
        for query in queries {
          try await parcels.eraseAllData()
          try await parcels.save(Array(Self.parcels.prefix(4)))
          var levels = parcels.watch(sections: query, by: \.level).makeAsyncIterator()
          var kinds = parcels.watch(sections: query, by: \.kind).makeAsyncIterator()
          var maybes = parcels.watch(sections: query, by: \.maybe).makeAsyncIterator()
          for added in [[], Self.parcels] {
            if !added.isEmpty { try await parcels.save(added) }
            let found = try #require(try await levels.next())
            let others = try #require(try await kinds.next())
            let expected = try parcels.sections(by: \.level, of: query)
            #expect(found.map(\.key) == expected.map(\.key), "\(query)")
            #expect(found.map { Array($0.rows) } == expected.map(\.models), "\(query)")
            let ordered = try parcels.sections(by: \.kind, of: query)
            #expect(others.map(\.key) == ordered.map(\.key), "\(query)")
            #expect(others.map { Array($0.rows) } == ordered.map(\.models), "\(query)")
            let optional = try #require(try await maybes.next())
            let nilFirst = try parcels.sections(by: \.maybe, of: query)
            #expect(optional.map(\.key) == nilFirst.map(\.key), "\(query)")
            #expect(optional.map { Array($0.rows) } == nilFirst.map(\.models), "\(query)")
          }
        }
      }
    }
  }
}
