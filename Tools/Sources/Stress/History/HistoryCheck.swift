import Foundation
import Larder

/// Compares what the processes of a round were told with what has happened.
struct HistoryCheck {
  private let truth: HistoryTruth
  private let logs: [UnsafeBufferPointer<HistoryEntry>]
  private let fault: (String, String) -> Void
  /// When the write of each change was begun, by its place in the round; 0 for one that nobody
  /// made.
  private var invoked: [UInt64]
  /// Whether a change is the last of its transaction.
  private var isEnd: [Bool]
  /// The place of the change that each entry of a log made; -1 for those that made none.
  private var places: [[Int32]]
  private(set) var acknowledged = 0

  init(
    _ truth: HistoryTruth, _ logs: [UnsafeBufferPointer<HistoryEntry>],
    _ fault: @escaping (String, String) -> Void
  ) {
    (self.truth, self.logs, self.fault) = (truth, logs, fault)
    invoked = Array(repeating: 0, count: truth.keys.count)
    isEnd = Array(repeating: false, count: truth.keys.count)
    places = logs.map { _ in [] }
  }

  mutating func run() {
    findWrites()
    followTime()
  }

  // MARK: Writes

  /// Each write that was acknowledged is one change of the log, and each change a write.
  private mutating func findWrites() {
    var saved: [UInt64: Int] = [:]
    var deleted: [UInt64: Int] = [:]
    for place in truth.keys.indices {
      if truth.kinds[place] == .deleted {
        deleted[truth.before[place]] = place
      } else {
        saved[truth.after[place]] = place
      }
    }
    for (process, log) in logs.enumerated() where log.contains(where: \.isWrite) {
      places[process] = Array(repeating: -1, count: log.count)
      var last: (invoked: UInt64, place: Int) = (0, 0)
      for (index, entry) in log.enumerated() where entry.isWrite {
        acknowledged += 1
        guard let place = entry.kind == .save ? saved[entry.nonce] : deleted[entry.nonce],
          truth.keys[place] == entry.key
        else {
          fault("lost", "an acknowledged write of cell \(entry.key) is no change of the log")
          continue
        }
        if invoked[place] != 0 { fault("log", "two writes are one change") }
        if last.invoked == entry.invoked {
          if place != last.place + 1 { fault("torn", "a transaction's changes stand apart") }
          isEnd[last.place] = false
        }
        isEnd[place] = true
        invoked[place] = entry.invoked
        places[process][index] = Int32(place)
        last = (entry.invoked, place)
      }
    }
    let unknown = invoked.count { $0 == 0 }
    if unknown > 0 { fault("phantom", "\(unknown) changes of the log are nobody's") }
  }

  // MARK: Order

  /// Goes through all logs in the order in which their operations were begun, and knows at each
  /// what was answered before it: nobody may see less than that.
  private mutating func followTime() {
    var next = logs.map { _ in 0 }
    var answered = logs.map { _ in 0 }
    /// The last change that somebody had an answer of.
    var floor = truth.start
    while true {
      var earliest = UInt64.max
      var process = -1
      for (candidate, log) in logs.enumerated() where next[candidate] < log.count {
        let time = log[next[candidate]].invoked
        if time < earliest { (earliest, process) = (time, candidate) }
      }
      guard process >= 0 else { return }
      for (other, log) in logs.enumerated() {
        while answered[other] < log.count, log[answered[other]].answered < earliest {
          floor = max(floor, sequence(of: log[answered[other]], other, answered[other]))
          answered[other] += 1
        }
      }
      let log = logs[process]
      var index = next[process]
      while index < log.count, log[index].invoked == earliest {
        check(log[index], process, index, floor)
        index += 1
      }
      next[process] = index
    }
  }

  /// What an operation saw or made.
  private func sequence(of entry: HistoryEntry, _ process: Int, _ index: Int) -> UInt64 {
    guard entry.isWrite else { return entry.sequence }
    let place = places[process][index]
    return place < 0 ? 0 : truth.start + UInt64(place) + 1
  }

  private func check(_ entry: HistoryEntry, _ process: Int, _ index: Int, _ floor: UInt64) {
    let sequence = sequence(of: entry, process, index)
    switch entry.kind {
    case .save, .delete:
      if sequence != 0, sequence <= floor {
        fault("order", "change \(sequence) was begun after \(floor) was known")
      }
    case .read, .look:
      if sequence < floor {
        fault("order", "a snapshot of \(sequence) was taken after \(floor) was known")
      }
      checkMoment(sequence, entry)
      if entry.kind == .look { return }
      let value = truth.value(of: entry.key, at: sequence)
      if value != entry.nonce {
        fault(
          "content", "cell \(entry.key) at \(sequence) was \(value) and was read as \(entry.nonce)")
      }
    case .readLog:
      let from = UInt64(entry.key)
      // One that began before this round has been compared with its own.
      guard from >= truth.start else { return }
      if truth.digest(after: from, upTo: entry.sequence) != entry.nonce {
        fault("log", "the log from \(from) to \(entry.sequence) was told wrongly")
      }
      if entry.sequence < floor, entry.sequence < from + 300 {
        fault("order", "the log ended at \(entry.sequence) when \(floor) was known")
      }
    }
  }

  /// A snapshot stands at the end of a transaction that was begun before the answer.
  private func checkMoment(_ sequence: UInt64, _ entry: HistoryEntry) {
    guard sequence > truth.start else { return }
    guard sequence <= truth.end else {
      return fault("content", "there is no change \(sequence)")
    }
    let place = Int(sequence - truth.start) - 1
    if !isEnd[place] { fault("torn", "a snapshot stands inside a transaction, at \(sequence)") }
    if invoked[place] >= entry.answered {
      fault("order", "change \(sequence) was read before it was begun")
    }
  }
}
