import CStress
import Foundation
import Larder

/// Watches all documents, and checks that each step fits the result before it.
///
/// Arguments: folder.
enum KillWitness: Worker {
  static let role = "kill-witness"

  static func run(_ arguments: [String]) throws {
    stress_end_with_parent()
    guard arguments.count == 1 else { throw UsageError("kill-witness FOLDER") }
    let folder = URL(fileURLWithPath: arguments[0], isDirectory: true)
    let store = try Store(at: KillStore.folder(in: folder), options: KillStore.options)
    let sightings = try Sightings(in: folder, "witness")
    try waiting { try await watch(store, sightings) }
  }

  /// Watches beside something else, until the process ends.
  static func start(_ store: Store, _ sightings: Sightings) {
    Task.detached {
      do {
        try await watch(store, sightings)
      } catch {
        sightings.complain()
      }
    }
  }

  private static func watch(_ store: Store, _ sightings: Sightings) async throws {
    var rows: Rows<KillItem> = []
    for try await change in store.repository(of: KillItem.self).watch(KillItem.all.sorted(by: \.id))
    {
      guard fits(change, rows) else {
        // What follows cannot fit either.
        sightings.complain()
        throw Misfit()
      }
      if Mutation.isOn("step-dropped"), case .update = change, Bool.random() { continue }
      rows.apply(change)
      switch change {
      case .initial(let items, _), .reset(let items, _): items.forEach(sightings.see)
      case .update(let difference):
        difference.insertions.forEach { sightings.see($0.model) }
        difference.updates.forEach { sightings.see($0.model) }
      }
      var digest = KillDigest()
      for row in rows { digest.add(row.id, row.nonce) }
      sightings.digest = digest.value
    }
  }

  private struct Misfit: Error {}

  /// Whether a step tells of changes that can have happened to these rows, each once.
  private static func fits(_ change: ResultChange<KillItem>, _ rows: Rows<KillItem>) -> Bool {
    guard case .update(let difference) = change else { return true }
    guard !difference.isEmpty else { return false }
    let removed = Set(difference.removals.map(\.offset))
    guard removed.count == difference.removals.count, removed.allSatisfy(rows.indices.contains)
    else { return false }
    var known: [String: String] = [:]
    for (offset, row) in rows.enumerated() where !removed.contains(offset) {
      guard known.updateValue(row.nonce, forKey: row.id) == nil else { return false }
    }
    for insertion in difference.insertions {
      guard insertion.model.isWhole, known[insertion.model.id] == nil else { return false }
      known[insertion.model.id] = insertion.model.nonce
    }
    let count = known.count
    return difference.insertions.allSatisfy { $0.offset < count }
      && difference.updates.allSatisfy { update in
        guard let nonce = known[update.model.id], update.offset < count else { return false }
        return update.model.isWhole && nonce != update.model.nonce
      }
  }
}

extension KillWitness {
  /// What a watcher has seen, in memory that the campaign reads.
  struct Sightings: Sendable {
    private let words: MappedFile

    private static let head = 16
    private static let capacity = 1 << 17

    init(in folder: URL, _ name: String) throws {
      words = try MappedFile(
        folder.appendingPathComponent("sightings-\(name)"), wordCount: Self.head + Self.capacity)
    }

    /// Of the rows, in their order.
    var digest: UInt64 {
      get { words[0] }
      nonmutating set { words[0] = newValue }
    }

    /// Steps that did not fit the rows before, and errors.
    var complaints: Int { Int(words[1]) }
    func complain() { words.add(1, at: 1) }

    func see(_ item: KillItem) {
      let count = words[2]
      words[Self.head + Int(count) % Self.capacity] = KillItem.nonce(item.nonce) ?? 0
      words[2] = count + 1
    }

    /// The nonces seen from the `start`th on, as far as they are still there.
    func nonces(from start: Int) -> (nonces: [UInt64], end: Int) {
      let end = Int(words[2])
      let first = max(start, end - Self.capacity)
      return ((first..<max(first, end)).map { words[Self.head + $0 % Self.capacity] }, end)
    }
  }
}

/// A number for a row of texts, in their order.
struct KillDigest {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ texts: String...) {
    for text in texts {
      for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
      value = (value ^ 0xFF) &* 0x100_0000_01B3
    }
  }
}
