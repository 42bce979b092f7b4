import Foundation
import Larder

/// A whole store that is damaged again and again, and what is in it.
struct CorruptBase: Codable {
  var parcels: [Step.Saved] = []
  var receipts: [Int: Int] = [:]
  var labels: [Label] = []
  /// Where entries of indexes stand in the file: the places of their bytes, key and value together.
  var entries: [Range<Int>] = []
  /// The same of the records of search indexes: of keys and of values.
  var searchRecords: [Range<Int>] = []

  static let count = 6
  /// The last is larger than what is looked at whole at every opening.
  static let large = count - 1

  /// Bases differ in size; each has deletions behind it, free pages, and values on pages of their
  /// own. One has been compacted.
  static func make(_ number: Int, at folder: String, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed &+ UInt64(number))
    var options = StoreOptions(durability: .volatile)
    options.mapByteCount = 64 << 20
    let store = try Store(at: folder, options: options)
    var base = CorruptBase()
    let saved: [Step.Saved] = (0..<40 * (number + 1) * (number + 1)).map { place in
      let isLarge = Int.random(in: 0..<25, using: &random) == 0
      let textByteCounts = number == Self.large ? 300..<4000 : isLarge ? 3000..<9000 : 0..<300
      return Step.Saved(
        id: "0-\(place)-" + String(repeating: "k", count: place % 7 * 4),
        shelf: Parcel.shelves.randomElement(using: &random) ?? 0,
        nonce: Int(random.next() >> 1),
        textByteCount: Int.random(in: textByteCounts, using: &random))
    }
    let gone = Set(saved.indices.filter { _ in Int.random(in: 0..<3, using: &random) == 0 })
    for start in stride(from: 0, to: saved.count, by: 100) {
      let page = saved[start..<min(start + 100, saved.count)]
      try store.write { scope in
        try scope.save(page.map(\.parcel))
        try scope.save(Receipt(id: start, nonce: start))
      }
      base.receipts[start] = start
    }
    let deleted = gone.map { saved[$0].id }
    try store.write { scope in _ = try scope.delete(Parcel.self, keys: deleted) }
    base.parcels = saved.indices.filter { !gone.contains($0) }.map { saved[$0] }
    base.labels = (0..<60 * (number + 1)).map { Label($0, long: $0 % 20 == 3) }
    for start in stride(from: 0, to: base.labels.count, by: 50) {
      try store.write { tx in
        _ = try tx.save(Array(base.labels[start..<min(start + 50, base.labels.count)]))
      }
    }
    if number == 1 { try store.compact() }
    try store.close()
    let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder + "/data.mdb")))
    base.entries = IndexEntries.places(in: file, labels: base.labels)
    guard base.entries.count >= base.labels.count else {
      throw ChildProcess.Failed(description: "there are no index entries to damage")
    }
    base.searchRecords = SearchRecords.places(in: file, ids: Set(base.parcels.map(\.id)))
    guard base.searchRecords.count >= base.parcels.count else {
      throw ChildProcess.Failed(description: "there are no records of searches to damage")
    }
    try JSONEncoder().encode(base).write(to: URL(fileURLWithPath: folder + ".json"))
  }
}

/// Makes the stores that are damaged: `corrupt-bases FOLDER SEED`.
struct CorruptBases: Worker {
  static let role = "corrupt-bases"

  static func run(_ arguments: [String]) throws {
    for number in 0..<CorruptBase.count {
      try CorruptBase.make(
        number, at: "\(arguments[0])/\(number)", seed: UInt64(arguments[1]) ?? 0)
    }
  }
}
