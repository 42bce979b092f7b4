import Foundation

/// What one writer must have left in the store.
final class KillBook {
  let writer: Int
  let journal: KillJournal
  private(set) var contents = KillContents()
  /// Nonces of writes that are, or were, in the store.
  private(set) var committed: Set<UInt64> = []
  private(set) var acknowledgedCount = 0
  /// Entries of the journal that `contents` has.
  private var settled = 0

  init(in folder: URL, writer: Int) throws {
    self.writer = writer
    journal = try KillJournal(in: folder, writer: writer)
  }

  /// Whether the journal has an acknowledgement that is not in `contents` yet.
  var hasAcknowledged: Bool {
    (settled..<journal.count).contains { journal.entry($0)?.isAcknowledged == true }
  }

  /// Compares the store with the journal. The writer does not run, or waits.
  ///
  /// - Parameter fault: Told what kind of fault there is, its text, and how many.
  func settle(_ raw: RawStore, _ fault: (String, String, Int) -> Void) throws {
    let found = try read(raw)
    var before = contents
    var pending: KillOperation?
    for index in settled..<journal.count {
      guard let (operation, isAcknowledged) = journal.entry(index) else {
        return fault("", "writer \(writer) left a journal that cannot be read", 1)
      }
      // Writes follow each other: only the last one can have been under way.
      if let pending { return fault("", "\(pending) was never answered", 1) }
      if isAcknowledged {
        operation.apply(to: &before)
        committed.insert(operation.nonce)
        acknowledgedCount += 1
      } else {
        pending = operation
      }
    }
    settled = journal.count
    var after = before
    pending?.apply(to: &after)
    if found == after {
      if let pending { committed.insert(pending.nonce) }
    } else if found != before {
      tell(found, before, after, pending, fault)
    }
    contents = found
  }

  private func read(_ raw: RawStore) throws -> KillContents {
    var contents = KillContents()
    let prefix = KillItem.prefix(ofWriter: writer)
    try raw.forEach(in: "documents/KillItem", prefix: prefix) { key, value in
      contents.items[Self.number(key)] = Self.nonce(value)
    }
    try raw.forEach(in: "documents/KillTwin", prefix: prefix) { key, value in
      contents.twins[Self.number(key)] = Self.nonce(value)
    }
    return contents
  }

  private static func number(_ key: UnsafeRawBufferPointer) -> Int {
    KillItem.number(String(decoding: key, as: UTF8.self)) ?? -1
  }

  /// The nonce by its mark, wherever in the record it stands; 0 where there is none.
  private static func nonce(_ value: UnsafeRawBufferPointer) -> UInt64 {
    let mark = Array(KillItem.mark.utf8)
    guard let start = value.firstRange(of: mark)?.upperBound, start + 16 <= value.count else {
      return 0
    }
    return UInt64(String(decoding: value[start..<start + 16], as: UTF8.self), radix: 16) ?? 0
  }

  /// Names what is wrong: each document is as before, as after, gone back or never written.
  private func tell(
    _ found: KillContents, _ before: KillContents, _ after: KillContents,
    _ pending: KillOperation?, _ fault: (String, String, Int) -> Void
  ) {
    var (lost, phantom) = (0, 0)
    func compare(_ part: KeyPath<KillContents, [Int: UInt64]>) {
      for number in 0..<KillItem.perWriter {
        let nonce = found[keyPath: part][number]
        let isKnown =
          nonce == before[keyPath: part][number] || nonce == after[keyPath: part][number]
        if isKnown { continue }
        if let nonce, !committed.contains(nonce), nonce != pending?.nonce {
          phantom += 1
        } else {
          lost += 1
        }
      }
    }
    compare(\.items)
    compare(\.twins)
    // Not known as a number of this campaign.
    phantom += found.items[-1] == nil ? 0 : 1
    let what = "of writer \(writer), whose last write was \(pending.map { "\($0)" } ?? "answered")"
    if lost > 0 { fault("lost", "\(lost) documents \(what), are not as acknowledged", lost) }
    if phantom > 0 { fault("phantom", "\(phantom) documents \(what), were never written", phantom) }
    if lost + phantom == 0 {
      fault("torn", "half a write is there: \(pending.map { "\($0)" } ?? "")", 1)
    }
  }

  /// Begins the journal anew. The writer does not run, or waits.
  func turnPage() {
    guard settled == journal.count else { return }
    journal.count = 0
    journal.forgetStalls()
    settled = 0
  }
}
