import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Two versions of a type whose embedded documents have other kinds in some fields.
private enum Old {
  @EmbeddedDocument struct Place: Equatable {
    var street = ""
    var zip: Int?
    var fees: [Double] = []
    var inner: [Place] = []
  }

  @Document(as: "Guest") struct Guest: Identifiable, Equatable {
    var id: Int
    var home = Place()
    var work: Place?
    var others: [Place] = []
    var named: [String: Place] = [:]
    var rank: Int?
  }
}

private enum New {
  @EmbeddedDocument struct Place: Equatable {
    var street = ""
    var zip: String?
    var fees: [String] = []
    var inner: [Place] = []
  }

  @Document(as: "Guest") struct Guest: Identifiable, Equatable {
    var id: Int
    var home = Place()
    var work: Place?
    var others: [Place] = []
    var named: [String: Place] = [:]
    var rank: String?
  }
}

extension New.Place {
  /// What the older type has written, where the fields that changed have no values.
  fileprivate init(_ old: Old.Place) {
    self.init(street: old.street, inner: old.inner.map { Self($0) })
  }
}

extension New.Guest {
  fileprivate init(_ old: Old.Guest) {
    self.init(
      id: old.id, home: New.Place(old.home), work: old.work.map { New.Place($0) },
      others: old.others.map { New.Place($0) }, named: old.named.mapValues { New.Place($0) })
  }
}

extension Old.Place {
  /// Whether a field that changes its kind has a value, here or below.
  fileprivate var isFilled: Bool {
    zip != nil || !fees.isEmpty || inner.contains { $0.isFilled }
  }
}

extension Old.Guest {
  fileprivate var isFilled: Bool {
    rank != nil
      || ([home] + others + [work].compactMap { $0 } + named.values).contains {
        $0.isFilled
      }
  }
}

/// A field of embedded documents takes the kind that a type declares, where none of them has a value in it.
@Suite(.timeLimit(.minutes(20))) struct AnotherNestedKindTests {
  private func place(_ random: inout RandomSource, depth: Int = 0, fills: Int) -> Old.Place {
    var place = Old.Place(street: "s\(random.int(0..<9))")
    if fills > 0, random.once(in: fills) { place.zip = random.int(0..<9) }
    if fills > 0, random.once(in: fills) { place.fees = [1.5] }
    if depth < 2 {
      place.inner = (0..<random.int(0..<2)).map { _ in
        self.place(&random, depth: depth + 1, fills: fills)
      }
    }
    return place
  }

  /// - Parameter fills: One in so many places has a value; 0 for none.
  private func guests(_ random: inout RandomSource, fills: Int) -> [Old.Guest] {
    (0..<random.int(1..<12)).map { id in
      var guest = Old.Guest(id: id, home: place(&random, fills: fills))
      if random.bool() { guest.work = place(&random, fills: fills) }
      guest.others = (0..<random.int(0..<3)).map { _ in place(&random, fills: fills) }
      if random.bool() { guest.named["a"] = place(&random, fills: fills) }
      if fills > 0, random.once(in: 4 * fills) { guest.rank = 1 }
      return guest
    }
  }

  @Test("the newer type is taken where no value stands in its way, and only there")
  func oracle() throws {
    var random = RandomSource()
    var taken = 0
    let rounds = repetitions(60)
    for round in 0..<rounds {
      let olds = guests(&random, fills: random.bool() ? 0 : random.int(2..<120))
      try withTemporaryStore { store in
        try store.repository(of: Old.Guest.self).save(olds)
        if random.bool() { try store.collection("Guest").createIndex(on: "home.zip") }
        if olds.contains(where: \.isFilled) {
          #expect(throws: StoreError.self, "round \(round)") { try store.declare(New.Guest.self) }
          #expect(try store.repository(of: Old.Guest.self).fetch(Old.Guest.all) == olds)
          return
        }
        taken += 1

        try store.declare(New.Guest.self)

        let guests = store.repository(of: New.Guest.self)
        #expect(try guests.fetch(New.Guest.all) == olds.map { New.Guest($0) }, "round \(round)")
        #expect(throws: StoreError.self) { try store.repository(of: Old.Guest.self).count() }
        let filled = New.Place(street: "x", zip: "0150", fees: ["1"], inner: [New.Place(zip: "7")])
        let guest = New.Guest(
          id: 3, home: filled, work: filled, others: [filled], named: ["b": filled], rank: "r")
        try guests.save(guest)
        #expect(try guests.get(3) == guest)
        #expect(try guests.fetch(New.Guest.where { $0.home.zip == "0150" }).map(\.id) == [3])
        #expect(try store.check().problems.isEmpty)
      }
    }
    #expect(taken > rounds / 4)
  }

  @Test("the error names a field that has values, and not one that is nil everywhere")
  func named() throws {
    try withTemporaryStore { store in
      let olds = store.repository(of: Old.Guest.self)
      try olds.save(Old.Guest(id: 1, others: [Old.Place(fees: [2])]))

      let error = #expect(throws: StoreError.self) { try store.declare(New.Guest.self) }

      guard case .kindMismatch("Guest", let field, _, _)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(field.hasSuffix("fees"), "\(field)")
    }
  }

  @Test("a synced collection keeps the kind: edits that were not sent may hold values of it")
  func synced() throws {
    try withTemporaryStore { store in
      let olds = store.repository(of: Old.Guest.self)
      try olds.save(Old.Guest(id: 1))
      try store.write { try $0.setSynced("Guest", true) }

      #expect(throws: StoreError.self) { try store.declare(New.Guest.self) }
      #expect(try olds.count() == 1)
    }
  }

  @Test("an import of the newer type is taken where a save of it is, and refused where that is")
  func rehearsal() throws {
    for isFilled in [false, true] {
      try withTemporaryStore { store in
        try store.repository(of: Old.Guest.self).save(
          Old.Guest(id: 1, home: Old.Place(zip: isFilled ? 5 : nil)))
        let collection = store.collection("Guest")
        if isFilled {
          #expect(throws: StoreError.self) {
            try SaveRehearsal(collection, keyField: "id", declaring: New.Guest.self)
          }
          return
        }
        var rehearsal = try SaveRehearsal(collection, keyField: "id", declaring: New.Guest.self)
        try rehearsal.add([["id": 2, "home": .document(["zip": "0150"])]])
        try rehearsal.write(as: .imported) { _ in }
        #expect(try store.repository(of: New.Guest.self).get(1) == New.Guest(id: 1))
      }
    }
  }
}
