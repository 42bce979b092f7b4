import Foundation
import Larder

/// Damages a store again and again, and says of each time what became of it: refused, told when it
/// was read, or harmless. A wrong document, an error without a type and a crash are failures.
struct Corruption {
  private let seed: UInt64
  private let folder: String
  /// Whole data files, and what is in them: by collection, every document by its key.
  private var bases: [(bytes: [UInt8], documents: [String: [String: DynamicDocument]])] = []

  init(_ folder: String, seed: UInt64) throws {
    self.folder = folder
    self.seed = seed
    for number in 0..<4 { try makeBase(number) }
  }

  private var store: String { folder + "/store" }

  private var options: StoreOptions { StoreOptions(durability: .volatile) }

  /// A store with deletions behind it, so that there are free pages, and values on pages of their own.
  private mutating func makeBase(_ number: Int) throws {
    var random = Generator(seed: seed &+ UInt64(number) &* 7919)
    try remove()
    let base = try Store(at: store, options: options)
    for collection in 0...number {
      let documents = base.collection("Collection \(collection)")
      for _ in 0..<3 {
        var saved: [DynamicDocument] = []
        for _ in 0..<random.int(10..<40 + 20 * number) {
          let id = "document \(random.int(0..<300))"
          let count = random.int(0..<20) == 0 ? random.int(3000..<12_000) : random.int(0..<200)
          saved.append([
            "id": .string(id), "number": .integer(Int64(random.int(-9..<999))),
            "text": .string(String(repeating: "t", count: count)),
            "tags": .array((0..<random.int(0..<4)).map { .string("tag \($0)") }),
          ])
        }
        try documents.save(saved, keyField: "id")
      }
      let notes = base.repository(of: Note.self)
      try notes.save(Note.batch(nonce: random.next(), count: 60, using: &random))
      let keys = try notes.fetch(Note.all.limit(40)).map(\.id)
      try notes.delete(keys: keys)
    }
    var contents: [String: [String: DynamicDocument]] = [:]
    for name in try base.collectionNames() {
      contents[name] = try Self.documents(base.collection(name))
    }
    try base.close()
    bases.append(([UInt8](try Data(contentsOf: URL(filePath: store + "/data.mdb"))), contents))
  }

  private static func documents(_ collection: DynamicCollection) throws -> [String: DynamicDocument]
  {
    var documents: [String: DynamicDocument] = [:]
    try collection.forEach { document in
      documents["\(document["id"] ?? .null)"] = document
      return true
    }
    return documents
  }

  private func remove() throws {
    for name in ["data.mdb", "lock.mdb", "larder.lock"] {
      let path = store + "/" + name
      if FileManager.default.fileExists(atPath: path) {
        try FileManager.default.removeItem(atPath: path)
      }
    }
  }

  /// Does the damage with this number, which is the same in every run with this seed.
  func run(_ number: Int) -> String {
    var random = Generator(seed: seed ^ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
    let base = bases[random.int(0..<bases.count)]
    var bytes = base.bytes
    let kind = Kind.allCases[number % Kind.allCases.count]
    kind.damage(&bytes, others: bases.map(\.bytes), &random)
    do {
      try remove()
      try Data(bytes).write(to: URL(filePath: store + "/data.mdb"))
    } catch {
      return "failed \(kind) cannot write the file: \(error)"
    }
    do {
      let opened = try Store(at: store, options: options)
      defer { try? opened.close() }  // What is wrong with it was said before.
      return try read(opened, base.documents, &random, kind)
    } catch is StoreError {
      return "refused \(kind)"
    } catch {
      return "failed \(kind) an error without a type: \(error)"
    }
  }

  /// Reads all there is, writes, and reads again.
  private func read(
    _ store: Store, _ expected: [String: [String: DynamicDocument]], _ random: inout Generator,
    _ kind: Kind
  ) throws -> String {
    var isTold = false
    func telling(_ body: () throws -> Void) throws {
      do { try body() } catch is StoreError { isTold = true }
    }
    var wrong: String?
    try telling {
      let names = try store.collectionNames()
      if Set(names) != Set(expected.keys) { wrong = "the collections are \(names)" }
    }
    for (name, documents) in expected {
      try telling {
        if try Self.documents(store.collection(name)) != documents {
          wrong = "documents of \(name)"
        }
      }
      for key in documents.keys.sorted().prefix(3) {
        try telling {
          guard case .string(let id)? = documents[key]?["id"],
            let found = try store.collection(name).get(.string(id))
          else { return }
          if found != documents[key] { wrong = "\(name) \(key)" }
        }
      }
    }
    if let wrong { return "failed \(kind) wrong without a word: \(wrong)" }
    let wasTold = isTold
    try telling {
      let notes = store.repository(of: Note.self)
      let saved = Note.batch(nonce: random.next(), count: 5, using: &random)
      try notes.save(saved)
      for note in saved where try notes.get(note.id) != note { wrong = "a note that was saved" }
      try store.collection("Collection 0").save([
        ["id": "new", "text": .string(String(repeating: "n", count: 9000))]
      ])
      try notes.delete(keys: [saved[0].id])
    }
    var report: CheckReport?
    try telling { report = try store.check() }
    if let wrong { return "failed \(kind) wrong without a word: \(wrong)" }
    if !isTold, let report, !report.isSound {
      return "failed \(kind) unsound after a write: \(report.problems)"
    }
    return wasTold ? "told \(kind)" : "harmless \(kind)"
  }

  /// What can happen to a file.
  enum Kind: CaseIterable {
    case bit, byte, header, node, meta, truncate, zero, random, swap, copy, burst, number

    /// Damages the bytes in one to three places.
    func damage(_ bytes: inout [UInt8], others: [[UInt8]], _ random: inout Generator) {
      for _ in 0..<random.int(1..<4) { damageOnce(&bytes, others, &random) }
    }

    private func damageOnce(
      _ bytes: inout [UInt8], _ others: [[UInt8]], _ random: inout Generator
    ) {
      let pageByteCount = 4096
      guard bytes.count >= 3 * pageByteCount else { return }
      let page = random.int(0..<bytes.count / pageByteCount) * pageByteCount
      let place = random.int(0..<bytes.count)
      switch self {
      case .bit: bytes[place] ^= 1 << UInt8(random.int(0..<8))
      case .byte: bytes[place] = random.byte()
      case .header: bytes[page + random.int(0..<16)] = random.byte()
      case .node:
        // Places of nodes stand behind the header, and nodes at the end.
        let isPlace = random.int(0..<2) == 0
        bytes[page + (isPlace ? random.int(16..<80) : random.int(3600..<4096))] = random.byte()
      case .meta:
        bytes[random.int(0..<2) * pageByteCount + random.int(0..<152)] = random.byte()
      case .truncate: bytes.removeLast(random.int(0..<bytes.count - pageByteCount))
      case .zero: for index in page..<page + pageByteCount { bytes[index] = 0 }
      case .random: for index in page..<page + pageByteCount { bytes[index] = random.byte() }
      case .swap, .copy:
        let other = random.int(0..<bytes.count / pageByteCount) * pageByteCount
        let moved = Array(bytes[page..<page + pageByteCount])
        if self == .swap {
          bytes.replaceSubrange(
            page..<page + pageByteCount, with: bytes[other..<other + pageByteCount])
        }
        bytes.replaceSubrange(other..<other + pageByteCount, with: moved)
      case .burst:
        for index in place..<min(bytes.count, place + random.int(1..<64)) {
          bytes[index] = random.byte()
        }
      case .number:
        // A number that could be one: small, or one more or less.
        let at = place & ~1
        bytes[at] = random.int(0..<2) == 0 ? bytes[at] &+ 1 : UInt8(random.int(0..<32))
      }
    }
  }
}

/// Random numbers that come again with the same seed: SplitMix64.
struct Generator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func int(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }
  mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next()) }
}

extension TestProcess {
  /// Damages stores, from one number up to another, and prints a line of each.
  static func corrupt(_ folder: String, seed: UInt64, from first: Int, to last: Int) throws {
    let corruption = try Corruption(folder, seed: seed)
    for number in first..<last { say("\(number) \(corruption.run(number))") }
  }
}
