import Foundation
import Larder

// What a hand does with its stores. The first word after the deed is the store's name at this hand.

extension HandWorker {
  /// Nil where it is nothing that is done with a store.
  func performOnStore(_ name: String, _ words: [String]) throws -> [String]? {
    func word(_ index: Int) throws -> String {
      guard index < words.count else { throw UsageError("\(name) needs more words") }
      return words[index]
    }
    func number(_ index: Int) throws -> Int {
      guard let number = Int(try word(index)) else { throw UsageError("\(name): no number") }
      return number
    }
    func store() throws -> Store { try stores.store(try word(0)) }
    func crates() throws -> StoreRepository<Crate> { try store().repository(of: Crate.self) }

    switch name {
    case "open":
      stores.put(try Store(at: try word(1), options: try options(words.dropFirst(2))), try word(0))
    case "open-url":
      guard let url = URL(string: try word(1)) else { throw UsageError("no URL") }
      stores.put(try Store(at: url), try word(0))
    case "open-temporary": stores.put(try Store.temporary(), try word(0))
    case "close":
      try store().close()
      stores.remove(try word(0))
    case "save":
      let body = words.count > 3 ? String(repeating: "b", count: try number(3)) : ""
      try crates().save(Crate(id: try word(1), nonce: try word(2), body: body))
    case "delete": return ["\(try crates().delete(keys: [try word(1)]))"]
    case "list": return try crates().fetch(Crate.all).map { "\($0.id)=\($0.nonce)" }
    case "count": return ["\(try crates().count())"]
    case "index":
      let collection = try store().collection("Crate")
      try collection.createIndex(on: [DynamicIndexPart(stringLiteral: try word(1))])
      try collection.buildIndexes()
    case "check":
      let report = try store().check()
      let problems = report.problems.map { "\($0)" } + (try searchProblems(try crates()))
      return problems.isEmpty ? ["sound"] : problems
    case "compact":
      let report = try store().compact(timeout: .seconds(1))
      return ["\(report.byteCountBefore)", "\(report.byteCountAfter)"]
    case "backup": try store().backup(to: try word(1))
    case "restore": try Store.restore(from: try word(0), to: try word(1))
    case "statistics":
      let found = try store().statistics()
      return [
        "file=\(found.fileByteCount)", "free=\(found.freeByteCount)", "used=\(found.usedByteCount)",
        "readers=\(found.readerCount)",
      ]
    case "consume":
      // A consumer that acknowledges its reset and then is never used again.
      let (store, name) = (try store(), try word(1))
      try waiting {
        for try await batch in store.changes(for: name) {
          try await store.write { try $0.acknowledge(batch) }
          break
        }
      }
    case "hold": try stores.hold(try store())
    case "release": try stores.release()
    case "saveAll":
      let body = String(repeating: try word(4), count: try number(2))
      let prefix = try word(1)
      try crates().save(
        (0..<(try number(3))).map {
          Crate(id: "\(prefix)-\($0)", nonce: prefix, group: $0 % 7, body: body)
        })
      return []
    case "fill":
      return try fill(try crates(), try word(1), byteCount: try number(2), most: try number(3))
    case "empty":
      // One transaction each: every one of them needs its own pages.
      var count = 0
      for index in try number(2)..<(try number(3)) {
        count += try crates().delete(keys: ["\(try word(1))-\(index)"])
      }
      return ["\(count)"]
    case "open-at-once": return try openAtOnce(try word(0), count: try number(1))
    case "warnings": return warnings.taken()
    default: return nil
    }
    return []
  }

  /// Nonces for which a search does not find the crates that have them.
  private func searchProblems(_ crates: StoreRepository<Crate>) throws -> [String] {
    let byNonce = Dictionary(grouping: try crates.fetch(Crate.all), by: \.nonce)
    return try byNonce.sorted { $0.key < $1.key }.prefix(20).compactMap { nonce, expected in
      let found = Set(try crates.keys(of: Crate.search("\"\(nonce)\"")))
      return found == Set(expected.map(\.id))
        ? nil : "a search for \(nonce) finds \(found.sorted())"
    }
  }

  private func options(_ words: some Sequence<String>) throws -> StoreOptions {
    var options = StoreOptions()
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, let number = Int(parts[1]) else { throw UsageError("option \(word)") }
      switch parts[0] {
      case "readers": options.maximumReaderCount = number
      case "quota": options.quotaByteCount = number
      case "reserve": options.reserveByteCount = number
      case "map": options.mapByteCount = number
      case "readonly": options.isReadOnly = number != 0
      case "log": options.changeLog = ChangeLogRetention(maximumByteCount: number)
      default: throw UsageError("option \(word)")
      }
    }
    let warnings = warnings
    options.log = { event in if event.level >= .warning { warnings.add("\(event)") } }
    return options
  }

  /// Saves one after the other until there are so many, or one is refused: how many are kept, and
  /// why there are no more.
  private func fill(
    _ crates: StoreRepository<Crate>, _ prefix: String, byteCount: Int, most: Int
  ) throws -> [String] {
    let body = String(repeating: "b", count: byteCount)
    for index in 0..<most {
      do {
        try crates.save(
          Crate(id: "\(prefix)-\(index)", nonce: prefix, group: index % 7, body: body))
      } catch {
        let words = ErrorWords(error)
        return ["\(index)", words.kind, words.text]
      }
    }
    return ["\(most)"]
  }

  /// Threads that all open the store at the same time and save one crate each: the ids of those
  /// that are kept.
  private func openAtOnce(_ path: String, count: Int) throws -> [String] {
    let results = Results()
    DispatchQueue.concurrentPerform(iterations: count) { index in
      do {
        let store = try Store(at: path)
        try store.repository(of: Crate.self).save(Crate(id: "thread-\(index)", nonce: "n"))
        try store.close()
        results.add("thread-\(index)")
      } catch {
        results.fail(error)
      }
    }
    return try results.get()
  }
}

/// What threads bring together.
// Guard: the lock.
final class Results: @unchecked Sendable {
  private let lock = NSLock()
  private var lines: [String] = []
  private var failure: (any Error)?

  func add(_ line: String) { lock.withLock { lines.append(line) } }

  func fail(_ error: any Error) { lock.withLock { failure = failure ?? error } }

  func get() throws -> [String] {
    try lock.withLock {
      if let failure { throw failure }
      return lines
    }
  }

  /// What there is, which is then gone.
  func taken() -> [String] {
    lock.withLock {
      defer { lines = [] }
      return lines
    }
  }
}
