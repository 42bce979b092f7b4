import CStress
import Foundation
import Larder

/// A named consumer: counts the items in its reset, and from then on each change, in the transaction
/// that acknowledges it.
///
/// Arguments: folder, name.
enum KillConsumer: Worker {
  static let role = "kill-consumer"

  static func run(_ arguments: [String]) throws {
    stress_end_with_parent()
    guard arguments.count == 2 else { throw UsageError("kill-consumer FOLDER NAME") }
    let folder = URL(fileURLWithPath: arguments[0], isDirectory: true)
    let store = try Store(at: KillStore.folder(in: folder), options: KillStore.options)
    let name = arguments[1]
    say("open")
    try waiting { try await consume(store, name) }
  }

  /// Consumes beside something else, until the process ends.
  static func start(_ store: Store, _ name: String) {
    Task.detached {
      do {
        try await consume(store, name)
      } catch {
        say("error consumer \(name): \(error)")
      }
    }
  }

  private static func consume(_ store: Store, _ name: String) async throws {
    while true {
      do {
        // However far the others get while it is dead.
        let batches = store.changes(
          for: name, in: ["KillItem"], maximumLag: .max, batchCount: 40, busyTimeout: .seconds(0))
        for try await batch in batches {
          if batch.isReset { try await letOthersWrite(after: batch, in: store) }
          try await store.write { tx in
            var account = KillAccounting(try tx.get(KillAccount.self, name), name)
            if batch.isReset {
              account.begin(at: tx.sequence, present: try tx.count(KillItem.all))
            } else {
              account.take(batch)
            }
            try tx.save(account.account)
            if !Mutation.isOn("acknowledge-apart") { try tx.acknowledge(batch) }
          }
          if Mutation.isOn("acknowledge-apart") {
            try await store.write { try $0.acknowledge(batch) }
          }
        }
      } catch StoreError.consumerLost {
        continue
      }
    }
  }

  /// Waits a moment for somebody else's save between a reset and the transaction that reads it, if
  /// anybody writes.
  private static func letOthersWrite(after batch: ChangeBatch, in store: Store) async throws {
    for _ in 0..<200 {
      if try store.changeToken() != batch.token { return }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}

/// What a consumer takes from a change.
struct KillChange {
  let sequence: UInt64
  let kind: DocumentChange.Kind
  let key: String

  init(_ change: DocumentChange) {
    sequence = change.sequence
    kind = change.kind
    if case .string(let id) = change.key { key = id } else { key = "" }
  }
}

/// Adds up changes, in the consumer and again in the campaign.
struct KillAccounting {
  private(set) var account: KillAccount

  init(_ account: KillAccount?, _ name: String) {
    self.account =
      account
      ?? KillAccount(id: name, start: -1, last: -1, count: 0, digest: 0, resets: 0, present: 0)
  }

  /// Takes what the store has at a moment.
  mutating func begin(at sequence: UInt64, present: Int) {
    if account.start >= 0 { account.resets += 1 }
    account.start = Int(sequence)
    account.last = Int(sequence)
    account.present = present
  }

  mutating func take(_ batch: ChangeBatch) {
    for change in batch.changes { take(KillChange(change)) }
    account.last = Int(batch.token.sequence)
  }

  mutating func take(_ change: KillChange) {
    account.count += 1
    if change.kind == .inserted { account.present += 1 }
    if change.kind == .deleted { account.present -= 1 }
    var digest = KillDigest()
    digest.add("\(account.digest)", "\(change.sequence)", "\(change.kind)", change.key)
    account.digest = Int(truncatingIfNeeded: digest.value)
    account.last = Int(change.sequence)
  }
}
