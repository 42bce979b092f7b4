import Foundation
import Larder

/// What the store says has happened in a round: each change by its sequence number, and so what
/// every cell was at every moment.
struct HistoryTruth {
  /// The last change before the round.
  let start: UInt64
  /// Of each change of the round, in order: its cell, what that was before and after, and how it
  /// changed. 0 stands for no document.
  private(set) var keys: [Int] = []
  private(set) var kinds: [DocumentChange.Kind] = []
  private(set) var before: [UInt64] = []
  private(set) var after: [UInt64] = []
  /// The places of the changes of each cell.
  private(set) var places: [[Int]]
  /// What the cells were before the round, and after it.
  private let first: [UInt64]
  private(set) var last: [UInt64]
  private(set) var token: ChangeToken?

  var end: UInt64 { start + UInt64(keys.count) }

  /// Reads the log behind `token`. Nobody writes meanwhile.
  ///
  /// - Parameter cells: The cells before the round.
  init(
    _ store: Store, after token: ChangeToken?, _ cells: [UInt64], _ fault: (String, String) -> Void
  ) throws {
    start = token?.sequence ?? 0
    first = cells
    last = Array(repeating: 0, count: HistoryCell.count)
    places = Array(repeating: [], count: HistoryCell.count)
    self.token = token
    for cell in try store.repository(of: HistoryCell.self).fetch(HistoryCell.all) {
      last[cell.id] = UInt64(cell.nonce)
    }
    try readLog(store, fault)
    findValues(fault)
  }

  private mutating func readLog(_ store: Store, _ fault: (String, String) -> Void) throws {
    while true {
      let batch = try store.history(since: token, limit: 10_000)
      if batch.isReset { return fault("log", "the log does not reach back to change \(end)") }
      token = batch.token
      if batch.changes.isEmpty { return }
      for change in batch.changes {
        guard change.sequence == end + 1 else {
          return fault("log", "the log goes from change \(end) to \(change.sequence)")
        }
        guard case .integer(let id) = change.key, places.indices.contains(Int(id)) else {
          return fault("log", "change \(change.sequence) is of no cell")
        }
        places[Int(id)].append(keys.count)
        keys.append(Int(id))
        kinds.append(change.kind)
        var nonce: UInt64 = 0
        if case .integer(let old)? = change.old?["nonce"] { nonce = UInt64(bitPattern: old) }
        before.append(nonce)
      }
    }
  }

  /// What a change has made is what the next one of the same cell has found, and in the end what is
  /// stored.
  private mutating func findValues(_ fault: (String, String) -> Void) {
    after = Array(repeating: 0, count: keys.count)
    var next = last
    for place in keys.indices.reversed() {
      let key = keys[place]
      after[place] = next[key]
      if (kinds[place] == .deleted) != (next[key] == 0)
        || (kinds[place] == .inserted) != (before[place] == 0)
      {
        fault("log", "change \(start + UInt64(place) + 1) cannot have been \(kinds[place])")
      }
      next[key] = before[place]
    }
    for key in next.indices where next[key] != first[key] {
      fault("log", "the first change of cell \(key) did not find what was there")
    }
  }

  /// What a cell was in the snapshot of a sequence number.
  func value(of key: Int, at sequence: UInt64) -> UInt64 {
    let places = places[key]
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if start + UInt64(places[middle]) + 1 <= sequence { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? first[key] : after[places[low - 1]]
  }

  /// As a reader of the log had to be told it: changes behind one number up to another.
  func digest(after from: UInt64, upTo to: UInt64) -> UInt64? {
    guard from >= start, to <= end, from <= to else { return nil }
    var digest: UInt64 = 1
    for place in Int(from - start)..<Int(to - start) {
      digest = HistoryDigest.fold(
        digest, start + UInt64(place) + 1, UInt64(keys[place]), kinds[place])
    }
    return digest
  }
}
