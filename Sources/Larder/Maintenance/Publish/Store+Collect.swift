internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The note that a letter was merged, in the same transaction as its documents. It goes when the letter has
/// gone, in the next collection.
@Document(as: "larder.letters")
struct LetterNote: Equatable {
  var id: UUID
  var mailbox: String
}

extension Store {
  /// Saves the documents of the letters that wait in a mailbox, in one transaction, and removes the letters. Where
  /// there is no room for all of them, each has a transaction of its own.
  ///
  /// Each letter is merged exactly once, also where the process is killed in between or several collect at a
  /// time: a note in the collection `larder.letters` is saved with its documents, and stays until the letter
  /// is gone. A letter that holds documents of other types than these waits on, and so does one that cannot be
  /// read, one with a document that the store refuses, and one that there is no room for; the report names them. Letters
  /// are merged in the order in which they were posted; one that has waited is merged with the next collection, over
  /// what came behind it.
  ///
  /// - Parameters:
  ///   - types: All types that letters may have documents of.
  ///   - mailbox: One that no other store collects from.
  /// - Throws: ``StoreError``, such as ``StoreError/full(_:)`` where there is room for none of the letters. Every
  ///   letter is where it was then, and none is merged twice by the next collection.
  @discardableResult
  public func collect<each Entity: Document>(
    _ types: repeat (each Entity).Type, from mailbox: Mailbox
  ) throws -> MailboxReport {
    try checkOpen()
    let found = try mailbox.letters()
    mailbox.removeLeftovers()
    var report = MailboxReport()
    var letters: [Letter] = []
    for id in found {
      do {
        guard let letter = try Letter.read(id, in: mailbox, for: self, repeat each types) else {
          continue
        }
        if letter.isForeign { report.foreign.append(id) } else { letters.append(letter) }
      } catch {
        report.unreadable[id] = error
      }
    }
    #if LARDER_MUTANTS
      if Mutant.lettersRemovedFirst.isOn { letters.forEach { $0.remove(from: mailbox) } }
    #endif
    if try !letters.isEmpty || !found.isEmpty || hasNotes() {
      do {
        try report.add(write { try $0.merge(letters, from: mailbox) })
      } catch StoreError.full where !letters.isEmpty {
        // One of them may be too large, and others not.
        var withoutRoom: [UUID: any Error] = [:]
        for letter in letters {
          do {
            try report.add(write { try $0.merge([letter], from: mailbox) })
          } catch let error as StoreError where error.isFull {
            withoutRoom[letter.id] = error
          }
        }
        // Who does not look at the report must hear of a disk that is full.
        if withoutRoom.count == letters.count, let error = withoutRoom.values.first { throw error }
        report.refused.merge(withoutRoom) { $1 }
      }
    }
    // A note of each is on the disk: whoever is killed here merges none of them again.
    for letter in letters where report.refused[letter.id] == nil { letter.remove(from: mailbox) }
    if !report.merged.isEmpty {
      engine.log.tell(.info, "letters were merged", ["count": "\(report.merged.count)"])
    }
    return report
  }

  /// Saves the documents of the letters that wait in a mailbox, on a thread of its own; as the synchronous one.
  ///
  /// - Throws: As the synchronous one.
  @discardableResult
  public func collect<each Entity: Document>(
    _ types: repeat (each Entity).Type, from mailbox: Mailbox
  ) async throws -> MailboxReport {
    let types = (repeat each types)
    return try await DiskWork.run({ _ in }) { [self] _ in
      try collect(repeat each types, from: mailbox)
    }
  }

  private func hasNotes() throws -> Bool { try read { try $0.count(LetterNote.all) } > 0 }
}

/// Which letters were merged in one transaction, and which could not be.
private struct MergedLetters {
  var merged: [UUID] = []
  var saves = SaveReport()
  var refused: [UUID: any Error] = [:]
}

extension MailboxReport {
  fileprivate mutating func add(_ letters: MergedLetters) {
    merged += letters.merged
    saves += letters.saves
    refused.merge(letters.refused) { $1 }
  }
}

extension WriteScope {
  /// Merges letters that no note says were merged, and forgets notes of letters that have gone.
  ///
  /// A letter is removed behind the commit of its note only, and a note only behind the letter: one without
  /// a note that is still there was never merged, whoever else collects.
  fileprivate mutating func merge(
    _ letters: [Letter], from mailbox: Mailbox
  ) throws -> MergedLetters {
    var outcome = MergedLetters()
    for letter in letters {
      if try get(LetterNote.self, letter.id) != nil { continue }
      guard try isThere(letter.id, mailbox) else { continue }
      do {
        // One that is refused leaves nothing, and keeps nobody else.
        outcome.saves += try undoable { scope in
          try letter.saves.reduce(into: SaveReport()) { try $0 += $1(&scope) }
        }
      } catch let error as StoreError where error.isOfLetter {
        outcome.refused[letter.id] = error
        continue
      }
      outcome.merged.append(letter.id)
      #if LARDER_MUTANTS
        if Mutant.lettersUnnoted.isOn { continue }
      #endif
      try save(LetterNote(id: letter.id, mailbox: mailbox.name))
    }
    let gone = try fetch(LetterNote.all).filter {
      try $0.mailbox == mailbox.name && !isThere($0.id, mailbox)
    }
    if !gone.isEmpty { _ = try delete(LetterNote.self, keys: gone.map(\.id)) }
    return outcome
  }

  /// - Throws: ``StoreError/storage(_:)`` where the system does not say: the note of a letter that is there
  ///   must not be forgotten.
  private func isThere(_ letter: UUID, _ mailbox: Mailbox) throws -> Bool {
    #if LARDER_MUTANTS
      if Mutant.lettersRemovedFirst.isOn { return true }
    #endif
    return try Engine.storing(at: mailbox.path) { try WholeFile.exists(mailbox.file(of: letter)) }
  }
}

extension StoreError {
  /// Whether it keeps a letter from being merged, and no other one.
  fileprivate var isOfLetter: Bool {
    if case .unfinishedMigration = self { return true }
    return isOfDocument
  }
}
