import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Document private struct Grain {
  var id: Int
  var number: Int
}

/// A deletion in a synced collection can take more room in the outbox than the document took.
@Suite("synced collections of a store that is full") struct OutboxSpaceTests {
  private let folder = TestFolder()
  private static let remote = Array("\u{0}\u{0}\u{1}a revision of the remote".utf8)

  /// A store with as many documents as there is room for, all of which the remote has.
  private func fullStore(quota: Int?) throws -> (store: Store, count: Int) {
    var options = StoreOptions()
    options.durability = .volatile
    options.quotaByteCount = quota
    if quota == nil { options.mapByteCount = 4 << 20 }
    let store = try Store(at: folder.store, options: options)
    try store.declare(Grain.self)
    try store.prepareOutbox()
    try store.write(as: .sync) { try $0.setSynced("Grain", true) }
    var count = 0
    #expect(throws: StoreError.self) {
      while true {
        try store.write(as: .sync) { tx in
          let numbers = count..<count + 500
          try tx.save(numbers.map { Grain(id: $0, number: $0) })
          for number in numbers { try tx.setBase("Grain", key(number), to: Self.remote) }
        }
        count += 500
      }
    }
    return (store, count)
  }

  private func key(_ number: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt64(bitPattern: Int64(number) ^ .min).bigEndian) { Array($0) }
  }

  /// Deletes until that is refused; how many were.
  private func deleteAll(_ store: Store, _ count: Int) throws -> Int {
    let grains = store.repository(of: Grain.self)
    var deleted = 0
    let error = #expect(throws: StoreError.self) {
      while deleted < count {
        try grains.delete(keys: Array(deleted..<deleted + 100))
        deleted += 100
      }
    }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("wait to be sent (\(deleted + 100))"), "\(text)")
    return deleted
  }

  @Test("deleting leaves room for an erasure", arguments: [nil, 3 << 20])
  func erased(quota: Int?) throws {
    let (store, count) = try fullStore(quota: quota)
    let deleted = try deleteAll(store, count)
    #expect(deleted > 0)
    let statistics = try store.statistics()
    #expect(statistics.usedByteCount <= statistics.quotaByteCount + (1 << 20) / 2)

    #expect(try store.repository(of: Grain.self).eraseAllData() == count - deleted)
    #expect(try store.statistics().usedByteCount < 1 << 20)
    try verifyAndClose(store)
  }

  @Test("also where the quota was lowered")
  func lowered() throws {
    let (full, count) = try fullStore(quota: 3 << 20)
    try full.close()
    for excess in [0.3, 0.6, 0.9, 1.2] {
      var options = StoreOptions()
      options.durability = .volatile
      options.quotaByteCount = (3 << 20) - Int(excess * 1_048_576)
      let store = try Store(at: folder.store, options: options)
      let grains = store.repository(of: Grain.self)
      #expect(throws: StoreError.self) { try grains.save(Grain(id: count, number: 0)) }
      let first = try #require(try grains.fetch(Grain.all.sorted(by: \.id).limit(1)).first?.id)
      #expect(try grains.delete(keys: Array(first..<first + 50)) == 50)
      // As an engine does.
      for number in first..<first + 50 {
        try store.write(as: .sync) { tx in
          try tx.reconciling { tx in
            try tx.setBase("Grain", key(number), to: nil)
            try tx.setOutboxEntry("Grain", key(number), to: nil)
          }
        }
      }
      try store.close()
    }
  }

  @Test(
    "and for the engine that sends it, whereupon the next can be deleted",
    arguments: [nil, 3 << 20])
  func sent(quota: Int?) throws {
    let (store, count) = try fullStore(quota: quota)
    let deleted = try deleteAll(store, count)
    for start in stride(from: 0, to: deleted, by: 50) {
      // As an engine does: it notes that edits are under way, and then that they were accepted.
      let keys = (start..<start + 50).map(key)
      try store.write(as: .sync) { tx in
        try tx.reconciling { tx in
          for key in keys {
            guard var entry = try tx.outboxEntry("Grain", key) else { continue }
            entry.flight = OutboxEntry.Flight(mutation: UUID())
            try tx.setOutboxEntry("Grain", key, to: entry)
          }
        }
      }
      try store.write(as: .sync) { tx in
        try tx.reconciling { tx in
          for key in keys {
            try tx.setBase("Grain", key, to: nil)
            try tx.setOutboxEntry("Grain", key, to: nil)
          }
        }
      }
    }
    #expect(try store.read { try $0.outboxCount() } == 0)
    try store.repository(of: Grain.self).delete(keys: Array(deleted..<deleted + 100))
    try verifyAndClose(store)
  }
}
