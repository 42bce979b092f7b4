import Foundation
import Larder

// What the tests of space have another process do.

extension TestProcess {
  /// Compacts the store for ever, with a save in between.
  static func compact(_ folder: String) throws {
    let store = try Store(at: folder)
    say("open")
    let notes = store.repository(of: Note.self)
    var number = 0
    while true {
      try notes.save(Note(id: "between", nonce: "\(number)", batchCount: 1))
      say("saved \(number)")
      try store.compact()
      say("compacted \(number)")
      number += 1
    }
  }

  /// Restores a backup for ever.
  static func restore(_ folder: String, from backup: String) throws {
    say("open")
    while true {
      let report = try Store.restore(from: backup, to: folder)
      say("restored \(report.documentCount)")
    }
  }

  /// Saves until the disk is full, then deletes one document after the other, and saves again.
  static func deleteWhenFull(_ folder: String) throws {
    let store = try Store(at: folder)
    let notes = store.repository(of: Note.self)
    var generator = SystemRandomNumberGenerator()
    var saved: [Note] = []
    func saveSome(_ count: Int) throws {
      for _ in 0..<count {
        let batch = Note.batch(nonce: generator.next(), count: 50, using: &generator)
        try notes.save(batch)
        saved += batch
      }
    }
    do {
      try saveSome(100_000)
      say("never full")
    } catch {
      say("error \(name(of: error)) \(error)")
    }
    say("kept \(try notes.count() == saved.count)")
    var deleted = 0
    do {
      for note in saved.prefix(saved.count * 3 / 4) { deleted += try notes.delete(keys: [note.id]) }
      say("deleted \(deleted == saved.count * 3 / 4)")
    } catch {
      say("refused after \(deleted) of \(saved.count): \(error)")
    }
    let first = saved.count
    try saveSome(2)
    say("saved \(saved.count - first)")
    let report = try store.check()
    say(report.isSound ? "sound" : "unsound \(report.problems)")
    waitForParent()
  }
}
