import CStress
import Foundation
import Larder

/// The app: saves a round, publishes it, and collects letters, until it is killed.
enum PublishApp: Worker {
  static let role = "publish-app"

  static func run(_ arguments: [String]) throws {
    stress_end_with_parent()
    guard arguments.count == 1 else { throw UsageError("publish-app FOLDER") }
    let folders = PublishFolders(base: URL(fileURLWithPath: arguments[0], isDirectory: true))
    let store = try Store(at: folders.store)
    var round = try store.read { try $0.get(Tile.self, 0)?.round ?? 0 }
    say("open")
    while true {
      round += 1
      let tiles = Tile.all(of: round)
      try store.write { tx in try tx.save(tiles) }
      try store.publish(Tile.all, to: folders.published)
      say("published \(round)")
      try folders.collect(store)
    }
  }
}

/// An extension: posts letters of two parcels, and says so once they are posted.
enum PublishExtension: Worker {
  static let role = "publish-extension"

  static func run(_ arguments: [String]) throws {
    stress_end_with_parent()
    guard arguments.count == 2 else { throw UsageError("publish-extension FOLDER NAME") }
    let folders = PublishFolders(base: URL(fileURLWithPath: arguments[0], isDirectory: true))
    var number = 0
    while true {
      number += 1
      let parcels = ["a", "b"].map { letter in
        let id = "\(arguments[1])-\(number)-\(letter)"
        return Postcard(id: id, content: PublishFolders.content(of: id))
      }
      try folders.mailbox.post(parcels)
      say("posted \(parcels.map(\.id).joined(separator: " "))")
    }
  }
}

/// A widget: each time that it is asked, it reads what is published.
enum PublishWidget: Worker {
  static let role = "publish-widget"

  static func run(_ arguments: [String]) throws {
    stress_end_with_parent()
    guard arguments.count == 1 else { throw UsageError("publish-widget FOLDER") }
    let folders = PublishFolders(base: URL(fileURLWithPath: arguments[0], isDirectory: true))
    var store = try Store(published: folders.published)
    say("open")
    while readLine() != nil {
      // What was open stays as it is, whatever is published meanwhile.
      let before = try look(store)
      let newer = try store.newerPublication()
      let after = try newer.map(look) ?? before
      let again = try look(store)
      if before != again { say("torn: the open one went from \(before) to \(again)") }
      if after < before { say("torn: \(after) came behind \(before)") }
      store = newer ?? store
      say("round \(after)")
    }
  }

  /// The round of all tiles, which a scan and the index must both say.
  private static func look(_ store: Store) throws -> Int {
    try store.read { snapshot in
      let tiles = try snapshot.fetch(Tile.all)
      let round = tiles.first?.round ?? -1
      let found = try snapshot.count(Tile.where { $0.round == round })
      guard tiles == Tile.all(of: round), found == Tile.count else {
        throw UsageError("torn: \(tiles.count) tiles, \(found) of the round \(round)")
      }
      return round
    }
  }
}
