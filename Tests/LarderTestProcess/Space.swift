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

  /// Saves documents of more than a page until the file may not grow any more, then deletes one after
  /// the other, and saves again.
  static func deleteAtLimit(_ folder: String) throws {
    setFileLimit(5_000_000)
    let store = try Store(at: folder)
    let accounts = store.repository(of: Account.self)
    func save(_ numbers: Range<Int>) throws -> Int {
      for number in numbers {
        do {
          try accounts.save(
            Account(number: number, balance: 0, text: String(repeating: "x", count: 6000)))
        } catch {
          say("error \(name(of: error)) \(error)")
          return number
        }
      }
      return numbers.upperBound
    }
    let count = try save(0..<10_000)
    say("kept \(try accounts.count() == count)")
    var deleted = 0
    for number in 0..<count / 2 { deleted += try accounts.delete(keys: [number]) }
    say("deleted \(deleted == count / 2)")
    say("saved \(try save(20_000..<20_000 + count / 8) == 20_000 + count / 8)")
    let report = try store.check()
    say(report.isSound ? "sound" : "unsound \(report.problems)")
    waitForParent()
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
