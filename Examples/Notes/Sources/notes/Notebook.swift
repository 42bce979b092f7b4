import Foundation
import Larder

/// The notes in a folder. Any number of processes can have it open.
struct Notebook {
  let store: Store
  let notes: StoreRepository<Note>

  init(at folder: URL) throws {
    store = try Store(at: folder, documents: [Note.self])
    notes = store.repository(of: Note.self)
  }

  /// Numbers are short to type. Writes take turns, so two processes never get the same one.
  func add(_ text: String) throws -> Note {
    try store.write { tx in
      let last = try tx.fetch(Note.all.sorted(by: \.id, .reverse).limit(1)).first
      let note = Note(id: (last?.id ?? 0) + 1, text: text, createdAt: .now)
      try tx.save(note)
      return note
    }
  }

  /// False if there is no such note.
  func finish(_ id: Int) throws -> Bool {
    try notes.update(id) { $0.isDone = true } != nil
  }

  func delete(_ id: Int) throws -> Bool { try notes.delete(key: id) }

  func all() throws -> [Note] { try notes.fetch(Note.all) }
  func open() throws -> [Note] { try notes.fetch(Note.open) }

  /// Upper and lower case do not matter. No index serves this; for some thousand notes none is needed.
  func containing(_ word: String) throws -> [Note] {
    let word = word.lowercased()
    return try notes.fetch(Note.where { $0.text.lowercased().contains(word) })
  }
}
