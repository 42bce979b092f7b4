import Foundation
import Larder

/// Uses a store that was damaged, as an app would, and says what became of it.
struct CorruptReader {
  enum Outcome {
    /// Not opened, with an error that says so.
    case refused
    /// An error, or the store's own check, said that something is damaged.
    case told
    /// As `told`, but an answer lacked something before anybody said so.
    case toldLate
    /// Every answer was right, and so is the store.
    case harmless
    case wrong(String)
  }

  let folder: String
  private(set) var parcels: [String: Parcel]
  let receipts: [Int: Int]
  let labels: [Label]

  var pageCheck = StoreOptions.PageCheck.always

  private var isTold = false
  private var lacking: String?
  var wrong: String?

  init(_ folder: String, _ base: CorruptBase) {
    self.folder = folder
    parcels = Dictionary(uniqueKeysWithValues: base.parcels.map { ($0.id, $0.parcel) })
    receipts = base.receipts
    labels = base.labels
  }

  /// - Parameter bytes: What the file has from when it was opened on; nil where that is what it has.
  mutating func outcome(
    _ random: inout SeededGenerator, overwriting bytes: [UInt8]? = nil
  ) -> Outcome {
    var options = StoreOptions(durability: .volatile)
    options.pageCheck = pageCheck
    options.mapByteCount = 64 << 20
    let store: Store
    do {
      store = try Store(at: folder, options: options)
    } catch is StoreError {
      return .refused
    } catch {
      return .wrong("an error without a type: \(error)")
    }
    defer { try? store.close() }  // What is wrong with it was said before.
    if let bytes {
      guard overwrite(bytes) else { return .wrong("the file cannot be overwritten") }
    }
    for use in Use.allCases.shuffled(using: &random) {
      attempt { try $0.read(use, store, &random) }
    }
    // Where documents are damaged, a scan may lack some.
    if bytes != nil { readLabels(store, &random) }
    if bytes != nil { readSearches(store, &random) }
    let isToldBefore = isTold
    attempt { try $0.write(to: store, &random) }
    if bytes != nil { attempt { try $0.changeLabels(store, &random) } }
    if bytes != nil { readSearches(store, &random) }
    attempt { reader in
      let report = try store.check()
      if !report.isSound { reader.isTold = true }
    }
    if let wrong { return .wrong(wrong) }
    guard let lacking else { return isTold ? .told : .harmless }
    if !isTold { return .wrong("without a word: \(lacking)") }
    return isToldBefore ? .told : .toldLate
  }

  private enum Use: CaseIterable { case get, shelf, scan, count, search, receipts, dynamic }

  mutating func attempt(_ body: (inout Self) throws -> Void) {
    do {
      try body(&self)
    } catch is StoreError {
      isTold = true
    } catch {
      wrong = wrong ?? "an error without a type: \(error)"
    }
  }

  private mutating func read(
    _ use: Use, _ store: Store, _ random: inout SeededGenerator
  ) throws {
    let repository = store.repository(of: Parcel.self)
    switch use {
    case .get:
      for _ in 0..<5 {
        guard let key = parcels.keys.sorted().randomElement(using: &random) else { return }
        if let found = try repository.get(key) { compare([found]) } else { lack("get \(key)") }
      }
    case .shelf:
      let shelf = Parcel.shelves.randomElement(using: &random) ?? 0
      let found = try repository.fetch(Parcel.where { $0.shelf == shelf })
      compare(found)
      let expected = parcels.values.count { $0.shelf == shelf }
      if found.count != expected { lack("shelf \(shelf)") }
    case .scan:
      let found = try repository.fetch(Parcel.all)
      compare(found)
      if found.count != parcels.count { lack("\(found.count) of \(parcels.count) parcels") }
    case .count:
      let count = try repository.count()
      if count != parcels.count { lack("a count of \(count) for \(parcels.count)") }
    case .search:
      for parcel in parcels.values.sorted(by: { $0.id < $1.id }).shuffled(using: &random).prefix(3)
      {
        guard let word = parcel.word else { continue }
        let found = try repository.fetch(Parcel.search(word))
        compare(found)
        if found.map(\.id) != [parcel.id] { lack("a search for parcel \(parcel.id)") }
      }
    case .receipts:
      let found = try store.repository(of: Receipt.self).fetch(Receipt.all)
      for receipt in found where receipts[receipt.id] != receipt.nonce {
        wrong = wrong ?? "receipt \(receipt.id)"
      }
      if found.count != receipts.count { lack("\(found.count) of \(receipts.count) receipts") }
    case .dynamic:
      // As the command line reads them.
      let names = Set(try store.collectionNames())
      if !names.isSubset(of: ["Parcel", "Receipt", "Label"]) {
        wrong = wrong ?? "collections \(names)"
      }
      if names.count < 3 { lack("collections: \(names)") }
      var count = 0
      var differing: String?
      try store.collection("Parcel").forEach { [parcels] document in
        count += 1
        guard case .string(let id)? = document["id"], case .integer(let nonce)? = document["nonce"],
          let expected = parcels[id], expected.nonce == Int(nonce)
        else {
          differing = "\(document["id"] ?? .null)"
          return true
        }
        return true
      }
      if let differing { wrong = wrong ?? "document \(differing)" }
      if count != parcels.count { lack("\(count) of \(parcels.count) documents") }
    }
  }

  /// In place, as the store has mapped it.
  private func overwrite(_ bytes: [UInt8]) -> Bool {
    guard let file = FileHandle(forUpdatingAtPath: folder + "/data.mdb") else { return false }
    return (try? file.write(contentsOf: Data(bytes))) != nil && (try? file.close()) != nil
  }

  private mutating func compare(_ found: [Parcel]) {
    for parcel in found where parcels[parcel.id] != parcel {
      wrong = wrong ?? "parcel \(parcel.id)"
    }
  }

  mutating func lack(_ what: String) { lacking = lacking ?? what }

  private mutating func write(to store: Store, _ random: inout SeededGenerator) throws {
    let repository = store.repository(of: Parcel.self)
    let parcel = Parcel(
      id: "1-new", shelf: 1, nonce: Int(random.next() >> 1),
      textByteCount: Int.random(in: 0..<6000, using: &random))
    try repository.save(parcel)
    if try repository.get(parcel.id) != parcel { wrong = wrong ?? "a parcel that was saved" }
    parcels[parcel.id] = parcel
    if let key = parcels.keys.sorted().randomElement(using: &random) {
      _ = try repository.delete(keys: [key])
      parcels[key] = nil
      if try repository.get(key) != nil { wrong = wrong ?? "a parcel that was deleted" }
    }
  }
}
