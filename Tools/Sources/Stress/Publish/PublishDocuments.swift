import Foundation
import Larder

/// What is published: all tiles of one round have its number.
@Document
struct Tile: Equatable {
  var id: Int
  @Indexed var round: Int
  var filling: String

  static let count = 40

  static func all(of round: Int) -> [Tile] {
    (0..<count).map {
      Tile(id: $0, round: round, filling: String(repeating: "\(round) ", count: 20 + round % 40))
    }
  }
}

/// What letters hold. The app takes it out of the store once it has counted it.
@Document
struct Postcard: Equatable {
  var id: String
  var content: String
}

/// How often a parcel arrived.
@Document
struct Arrival: Equatable {
  var id: String
  var count: Int
}

/// The places of the campaign.
struct PublishFolders {
  let base: URL
  var store: URL { base.appendingPathComponent("app", isDirectory: true) }
  var published: URL { base.appendingPathComponent("published", isDirectory: true) }
  var mailbox: Mailbox { Mailbox(at: base.appendingPathComponent("mailbox", isDirectory: true)) }

  /// Collects what was posted, and counts what has arrived: first what an earlier process has left, or a
  /// letter that is merged twice would look like one.
  func collect(_ store: Store) throws {
    try count(store)
    let report = try store.collect(Postcard.self, from: mailbox)
    if let (letter, error) = report.unreadable.first ?? report.refused.first {
      throw UsageError("the letter \(letter) cannot be merged: \(error)")
    }
    try count(store)
  }

  private func count(_ store: Store) throws {
    try store.write { tx in
      for parcel in try tx.fetch(Postcard.all) {
        let earlier = try tx.get(Arrival.self, parcel.id)?.count ?? 0
        let isWhole = parcel.content == Self.content(of: parcel.id)
        try tx.save(Arrival(id: parcel.id, count: isWhole ? earlier + 1 : 1000))
        try tx.delete(parcel)
      }
    }
  }

  static func content(of id: String) -> String { String(repeating: id + " ", count: 30) }
}
