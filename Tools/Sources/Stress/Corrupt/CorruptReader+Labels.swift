import Foundation
import Larder

// What is asked of the documents with indexes. An answer from an index is right, or is an error: unlike
// one from documents that nobody has verified, it may not even lack anything.

extension CorruptReader {
  mutating func readLabels(_ store: Store, _ random: inout SeededGenerator) {
    let repository = store.repository(of: Label.self)
    guard let one = labels.randomElement(using: &random) else { return }
    let same = labels.filter { $0.shelf == one.shelf }
    let ranks = one.rank...min(100, one.rank + 20)
    let inRange = labels.filter { ranks.contains($0.rank) }
    ask("by code", [one]) { try repository.fetch(Label.where { $0.code == one.code }) }
    ask("by shelf", same) { try repository.fetch(Label.where { $0.shelf == one.shelf }) }
    ask("by tag", labels.filter { $0.tags.contains(one.tags[1]) }) {
      try repository.fetch(Label.where { $0.tags.contains(one.tags[1]) })
    }
    ask("by rank, sorted", inRange.sorted { ($0.rank, $0.id) < ($1.rank, $1.id) }) {
      try repository.fetch(
        Label.where { $0.rank >= ranks.lowerBound && $0.rank <= ranks.upperBound }
          .sorted(by: \.rank))
    }
    ask("by two, reversed", same.sorted { ($0.rank, $1.id) > ($1.rank, $0.id) }) {
      try repository.fetch(
        Label.where { $0.shelf == one.shelf }.sorted(by: \.rank, .reverse))
    }
    ask("the first by code", Array(labels.sorted { $0.code < $1.code }.prefix(7))) {
      try repository.fetch(Label.all.sorted(by: \.code).limit(7))
    }
    ask("count", same.count) { try repository.count(Label.where { $0.shelf == one.shelf }) }
    ask("keys", same.map(\.id)) { try repository.keys(of: Label.where { $0.shelf == one.shelf }) }
    ask("values", Set(labels.map(\.shelf)).sorted()) { try repository.distinct(\.shelf) }
    ask("most", labels.map(\.rank).max()) { try repository.max(\.rank) }
    ask("of some", labels.filter { $0.shelf < 3 && $0.rank == one.rank }) {
      try repository.fetch(Label.where { $0.shelf < 3 && $0.rank == one.rank })
    }
  }

  /// Where documents are sound, what a search answers is right, or the documents themselves are asked.
  mutating func readSearches(_ store: Store, _ random: inout SeededGenerator) {
    let repository = store.repository(of: Parcel.self)
    for parcel in parcels.values.sorted(by: { $0.id < $1.id }).shuffled(using: &random).prefix(9) {
      guard let word = parcel.word else { continue }
      ask("parcel \(parcel.id)", [parcel]) { try repository.fetch(Parcel.search(word)) }
    }
  }

  private mutating func ask<Answer: Equatable>(
    _ what: String, _ expected: Answer, _ body: () throws -> Answer
  ) {
    attempt { reader in
      let answer = try body()
      if answer != expected { reader.wrong = reader.wrong ?? "\(what): \(answer)" }
    }
  }

  /// Deletes and saves by queries, and looks at what is left.
  mutating func changeLabels(_ store: Store, _ random: inout SeededGenerator) throws {
    let repository = store.repository(of: Label.self)
    guard let one = labels.randomElement(using: &random),
      let other = labels.randomElement(using: &random)
    else { return }
    var left = Dictionary(uniqueKeysWithValues: labels.map { ($0.id, $0) })
    attempt { reader in
      let count = try repository.delete(Label.where { $0.code == one.code })
      left[one.id] = nil
      if count != 1 { reader.wrong = reader.wrong ?? "labels: \(count) deleted by code" }
    }
    attempt { reader in
      let kept = reader.labels.first { $0.shelf == other.shelf && $0.id != one.id }
      let gone = left.values.filter { $0.shelf == other.shelf && $0.id != kept?.id }
      let report = try repository.save(
        kept.map { [$0] } ?? [], clearBeforeSaving: Label.where { $0.shelf == other.shelf })
      for label in gone { left[label.id] = nil }
      if report.deleted != gone.count {
        reader.wrong = reader.wrong ?? "labels: \(report.deleted) cleared"
      }
    }
    attempt { reader in
      let owners = reader.labels.filter { left[$0.id] != nil }
      guard let owner = owners.randomElement(using: &random) else { return }
      var second = Label(-1, long: false)
      second.code = owner.code
      do {
        try repository.save(second)
        reader.wrong = reader.wrong ?? "labels: a second owner of \(owner.code)"
      } catch StoreError.uniqueViolation {
        // As it should be.
      }
    }
    // By their keys, which no index has a say in.
    for label in labels {
      attempt { reader in
        let found = try repository.get(label.id)
        if found != left[label.id] {
          reader.wrong = reader.wrong ?? "label \(label.id) is \(found.map { "\($0)" } ?? "gone")"
        }
      }
    }
  }
}
