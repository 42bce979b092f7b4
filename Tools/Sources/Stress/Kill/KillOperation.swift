import Foundation
import Larder
import LarderImport

/// One write of the kill campaign: to some of the documents of one group of its writer.
struct KillOperation: Equatable {
  enum Kind: UInt64, CaseIterable {
    case save, replaceGroup, deleteGroup, deleteKeys, importLines, saveWithTwins
  }

  var kind: Kind
  var group: Int
  /// Which of the 16 documents.
  var mask: UInt16
  var nonce: UInt64

  static func random(using generator: inout SeededGenerator) -> KillOperation {
    // More is saved than deleted, so that there is something to lose.
    let kinds: [Kind] = [
      .save, .save, .save, .replaceGroup, .replaceGroup, .deleteGroup, .deleteKeys, .importLines,
      .saveWithTwins, .saveWithTwins,
    ]
    return KillOperation(
      kind: kinds[Int.random(in: 0..<kinds.count, using: &generator)],
      group: Int.random(in: 0..<KillItem.groupCount, using: &generator),
      mask: UInt16.random(in: 1 ... .max, using: &generator),
      nonce: UInt64.random(in: 1 ... .max, using: &generator))
  }

  /// The documents that it names.
  var numbers: [Int] { (0..<16).filter { mask >> $0 & 1 == 1 }.map { group * 16 + $0 } }

  // MARK: In one word

  var word: UInt64 { kind.rawValue << 32 | UInt64(group) << 16 | UInt64(mask) }

  init(kind: Kind, group: Int, mask: UInt16, nonce: UInt64) {
    (self.kind, self.group, self.mask, self.nonce) = (kind, group, mask, nonce)
  }

  init?(word: UInt64, nonce: UInt64) {
    guard let kind = Kind(rawValue: word >> 32) else { return nil }
    self.init(
      kind: kind, group: Int(word >> 16 & 0xFFFF), mask: UInt16(word & 0xFFFF), nonce: nonce)
  }

  // MARK: What it does

  /// To a store.
  func run(in store: Store, writer: Int) throws {
    let items = store.repository(of: KillItem.self)
    let documents = numbers.map { KillItem(writer: writer, number: $0, nonce: nonce) }
    let group = writer * KillItem.groupCount + group
    switch kind {
    case .save: try items.save(documents)
    case .replaceGroup:
      try items.save(documents, clearBeforeSaving: KillItem.where { $0.group == group })
    case .deleteGroup: try items.delete(KillItem.where { $0.group == group })
    case .deleteKeys: try items.delete(keys: documents.map(\.id))
    case .importLines:
      let lines = documents.map {
        #"{"id":"\#($0.id)","group":\#($0.group),"nonce":"\#($0.nonce)","padding":"\#($0.padding)"}"#
      }
      try store.importDocuments(
        from: .bytes(Array(lines.joined(separator: "\n").utf8), name: "lines.ndjson"),
        into: KillItem.self)
    case .saveWithTwins:
      let twins = documents.map { KillTwin(id: $0.id, nonce: $0.nonce) }
      if Mutation.isOn("two-transactions") {
        try items.save(documents)
        try store.repository(of: KillTwin.self).save(twins)
        return
      }
      try store.write { tx in
        try tx.save(documents)
        if Mutation.isOn("long-turn") { usleep(2_500_000) }
        try tx.save(twins)
      }
    }
  }

  /// To the model.
  func apply(to contents: inout KillContents) {
    if kind == .replaceGroup || kind == .deleteGroup {
      for number in group * 16..<group * 16 + 16 { contents.items[number] = nil }
    }
    for number in numbers {
      switch kind {
      case .save, .replaceGroup, .importLines: contents.items[number] = nonce
      case .saveWithTwins:
        contents.items[number] = nonce
        contents.twins[number] = nonce
      case .deleteKeys: contents.items[number] = nil
      case .deleteGroup: break
      }
    }
  }
}

/// The documents of one writer: nonces by their numbers.
struct KillContents: Equatable {
  var items: [Int: UInt64] = [:]
  var twins: [Int: UInt64] = [:]
}
