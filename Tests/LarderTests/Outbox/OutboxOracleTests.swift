import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// What edits leave in the outbox, said a second time without a database, and held against it.
@Suite struct OutboxOracleTests {
  /// A document with what stands about it in the outbox.
  private struct Known {
    var text: String?
    var hasBase = false
    var entry: Entry?

    struct Entry {
      var shadow: String?
      var isDeleted = false
      /// Whether it is under way.
      var isSent = false
      var isEditedInFlight = false
    }

    /// The document is saved with this text, or deleted where it is nil.
    mutating func edit(_ new: String?) {
      guard new != text else { return }
      let old = text
      text = new
      guard var entry else {
        if new == nil, !hasBase { return }
        return entry = Entry(shadow: hasBase ? old : nil, isDeleted: new == nil)
      }
      if new == nil, !hasBase, !entry.isSent { return self.entry = nil }
      entry.isDeleted = new == nil
      if entry.isSent { entry.isEditedInFlight = true }
      self.entry = entry
    }

    /// As `OutboxTableTests` prints it.
    func line(_ id: String) -> String? {
      guard let entry else { return nil }
      return id + (hasBase ? " base" : "") + (entry.shadow.map { " was \($0)" } ?? "")
        + (entry.isDeleted ? " deleted" : "") + (entry.isEditedInFlight ? " edited in flight" : "")
    }
  }

  @Test("random batches, of neighbours and of others, leave what each edit by itself would")
  func batches() throws {
    var random = RandomSource()
    for _ in 0..<repetitions(6) {
      let store = try OutboxTableTests.makeStore()
      let ids = (0..<300).map { "s\(1000 + $0)" }
      var known = ["a": Known(text: "old", hasBase: true), "b": Known(text: "old", hasBase: true)]
      try store.write(as: .sync) { tx in
        for id in ids {
          var document = Known()
          if random.bool() {
            document = Known(text: "old", hasBase: true)
            try tx.save(Slip(id: id, text: "old"))
            try tx.setBase("Slip", Array(id.utf8), to: [1])
          }
          known[id] = document
        }
      }
      for number in 0..<60 {
        try store.write { tx in
          for _ in 0..<random.int(1..<4) {
            // Next to each other, or anywhere; some of them twice.
            let start = random.int(0..<ids.count)
            let some =
              random.bool()
              ? Array(ids[start..<min(ids.count, start + random.int(1..<80))])
              : random.array(1..<40) { $0.pick(ids) }
            if random.once(in: 3) {
              _ = try tx.delete(Slip.self, keys: some)
              for id in some { known[id]?.edit(nil) }
            } else {
              let text = random.once(in: 8) ? "old" : "text \(number)"
              try tx.save(some.map { Slip(id: $0, text: text) })
              for id in some { known[id]?.edit(text) }
            }
          }
        }
        if random.once(in: 3) {
          try store.write(as: .sync) { tx in
            for id in random.array(1..<20, { $0.pick(ids) }) {
              guard var entry = try tx.outboxEntry("Slip", Array(id.utf8)), entry.flight == nil
              else { continue }
              entry.flight = OutboxEntry.Flight(mutation: UUID())
              try tx.setOutboxEntry("Slip", Array(id.utf8), to: entry)
              known[id]?.entry?.isSent = true
            }
          }
        }
        let expected = known.keys.sorted().compactMap { known[$0]?.line($0) }
        try #require(try OutboxTableTests.text(of: store) == expected, "\(random.hint)")
      }
      try verifyAndClose(store)
    }
  }
}
