import Foundation
import Larder

/// Something that a writer does to a store in one transaction, put into words before it is done.
struct Step: Codable, Sendable {
  struct Saved: Codable, Sendable {
    var id: String
    var shelf: Int
    var nonce: Int
    var textByteCount: Int

    var parcel: Parcel { Parcel(id: id, shelf: shelf, nonce: nonce, textByteCount: textByteCount) }
  }

  var writer: Int
  /// Of the receipt that is saved with it.
  var nonce: Int
  var saved: [Saved] = []
  var deleted: [String] = []
  /// The shelf of the writer that is cleared before saving.
  var cleared: Int?

  /// A random step of a writer that has few parcels, so that most are met again.
  init(_ writer: Int, using random: inout SeededGenerator) {
    self.writer = writer
    nonce = Int(random.next() >> 1)
    let kind = Int.random(in: 0..<10, using: &random)
    if kind < 8 {
      for _ in 0..<Int.random(in: 1...4, using: &random) { saved.append(.random(writer, &random)) }
    }
    if kind == 0 { cleared = Parcel.shelves.randomElement(using: &random) }
    if kind > 5 {
      for _ in 0..<3 { deleted.append(Saved.id(writer, &random)) }
    }
  }

  /// What the writer's part of the store is afterwards.
  func applied(to version: Version) -> Version {
    var version = version
    if let cleared {
      let kept = Set(saved.map(\.id))
      version.parcels = version.parcels.filter { id, parcel in
        parcel.shelf != cleared || kept.contains(id)
      }
    }
    for saved in saved { version.parcels[saved.id] = saved.parcel }
    for id in deleted { version.parcels[id] = nil }
    version.receipt = nonce
    return version
  }

  func apply(to scope: inout WriteScope) throws {
    if let cleared {
      let prefix = "\(writer)-"
      let mine = Parcel.where { $0.shelf == cleared && $0.id.hasPrefix(prefix) }
      try scope.save(saved.map(\.parcel), clearBeforeSaving: mine)
    } else if !saved.isEmpty {
      try scope.save(saved.map(\.parcel))
    }
    if !deleted.isEmpty { _ = try scope.delete(Parcel.self, keys: deleted) }
    try scope.save(Receipt(id: writer, nonce: nonce))
  }
}

extension Step.Saved {
  fileprivate static func id(_ writer: Int, _ random: inout SeededGenerator) -> String {
    "\(writer)-\(Int.random(in: 0..<24, using: &random))"
  }

  fileprivate static func random(_ writer: Int, _ random: inout SeededGenerator) -> Self {
    // Some on pages of their own.
    let isLarge = Int.random(in: 0..<12, using: &random) == 0
    return Step.Saved(
      id: id(writer, &random), shelf: Parcel.shelves.randomElement(using: &random) ?? 0,
      nonce: Int(random.next() >> 1),
      textByteCount: Int.random(in: isLarge ? 3000..<9000 : 0..<300, using: &random))
  }
}

/// The part of a store that is one writer's.
struct Version: Equatable, Sendable {
  var parcels: [String: Parcel] = [:]
  var receipt: Int?
}
