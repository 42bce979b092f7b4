internal import LarderLMDB

// The bytes of an index in the catalogue; `Layout` draws them.

/// What the catalogue keeps of one index: its definition, and how far it is built.
struct IndexRecord: Sendable, Equatable {
  let definition: IndexDefinition
  var state: IndexState
  /// What this definition, and those that had the name before it, have taken the place of. An older
  /// version of an app, which still declares one of these, leaves the index as it is.
  let superseded: [UInt64]

  /// How many are remembered.
  static let maximumSupersededCount = 16

  /// A search index with a tokenizer of the app, whose identifier stands behind the weights; else as the fourth.
  private static let tokenizerVersion: Int64 = 5
  /// A search index, with the weights of its parts; else as the third.
  private static let wordsVersion: Int64 = 4
  /// With what is there instead of an embedded document that a record lacks.
  private static let version: Int64 = 3
  /// Without that: it is nil. Written where that is so, and so read by older programs.
  private static let secondVersion: Int64 = 2
  /// Entries without a checksum: the index is not used, and built anew.
  private static let firstVersion: Int64 = 1

  func encoded(number: UInt32) -> [UInt8] {
    var writer = RecordWriter(binding: .none)
    let hasTokenizer = definition.weights != nil && definition.tokenizer != nil
    writer.putArray(count: definition.weights == nil ? 9 : hasTokenizer ? 11 : 10)
    let hasOuterAbsent =
      definition.weights != nil
      || definition.parts.contains { part in
        part.outerAbsent != IndexDefinition.Part.nothing(outside: part.path, part.isMultiple)
      }
    writer.put(
      hasTokenizer
        ? Self.tokenizerVersion
        : definition.weights != nil
          ? Self.wordsVersion : hasOuterAbsent ? Self.version : Self.secondVersion)
    writer.put(definition.collection)
    writer.put(definition.name)
    writer.putArray(count: definition.parts.count)
    for part in definition.parts {
      writer.putArray(count: hasOuterAbsent ? 5 : 4)
      writer.putArray(count: part.path.count)
      for name in part.path { writer.put(name) }
      writer.put(Int64(part.scalar.rawValue))
      writer.put(Int64((part.isMultiple ? 1 : 0) | (part.isDescending ? 2 : 0)))
      part.absent.withUnsafeBytes { writer.put($0) }
      guard hasOuterAbsent else { continue }
      writer.putArray(count: part.outerAbsent.count)
      for absent in part.outerAbsent { absent.withUnsafeBytes { writer.put($0) } }
    }
    if let weights = definition.weights {
      writer.putArray(count: weights.count)
      for weight in weights { writer.put(Int64(weight)) }
      if let tokenizer = definition.tokenizer { writer.put(tokenizer) }
    }
    writer.put(definition.isUnique)
    if let filter = definition.filter {
      filter.withUnsafeBytes { writer.put($0) }
    } else {
      writer.putNil()
    }
    writer.put(Int64(definition.unicode))
    state.encode(into: &writer)
    writer.putArray(count: superseded.count)
    for definition in superseded { writer.put(Int64(bitPattern: definition)) }
    let hash = writer.withBytes { Checksum.hash($0, seed: UInt64(number)) }
    writer.appendInteger(hash.littleEndian)
    return writer.withBytes { [UInt8]($0) }
  }

  /// - Throws: ``StoreError/damagedCatalogue(_:)``.
  init(_ bytes: UnsafeRawBufferPointer, number: UInt32) throws(StoreError) {
    do {
      let count = bytes.count - RecordFormat.checksumByteCount
      guard count > 0, let start = bytes.baseAddress else { throw RecordError.truncated }
      let stored = UInt64(
        littleEndian: bytes.loadUnaligned(fromByteOffset: count, as: UInt64.self))
      let body = UnsafeRawBufferPointer(rebasing: bytes[..<count])
      guard Checksum.hash(body, seed: UInt64(number)) == stored else { throw RecordError.checksum }
      var reader = ValueReader(start, start + count, binding: .none, depth: 0)
      try self.init(&reader)
    } catch {
      throw .damagedCatalogue("the description of index \(number): \(error)")
    }
  }

  private init(_ reader: inout ValueReader) throws(RecordError) {
    let count = try reader.arrayCount()
    let version = try reader.int64()
    let isKnown =
      switch version {
      case Self.tokenizerVersion: count == 11
      case Self.wordsVersion: count == 10
      case Self.version, Self.secondVersion: count == 9
      case Self.firstVersion: count == 8
      default: false
      }
    guard isKnown else { throw .invalid("version \(version) is unknown") }
    let collection = try reader.string()
    let name = try reader.string()
    var parts: [IndexDefinition.Part] = []
    for _ in 0..<(try reader.arrayCount()) { parts.append(try Self.part(&reader, version)) }
    guard !parts.isEmpty else { throw .invalid("it has no part") }
    var weights: [UInt32]?
    var tokenizer: String?
    if version >= Self.wordsVersion {
      var read: [UInt32] = []
      for _ in 0..<(try reader.arrayCount()) {
        guard let weight = UInt32(exactly: try reader.int64()), weight > 0,
          weight <= IndexDefinition.maximumWeight
        else { throw .outOfRange(expected: "a weight") }
        read.append(weight)
      }
      guard read.count == parts.count else { throw .invalid("weights are missing") }
      weights = read
      if version == Self.tokenizerVersion { tokenizer = try reader.string() }
    }
    let isUnique = try reader.bool()
    var filter: [UInt8]?
    if !reader.skipNil() {
      filter = FilterNode.withOrderedLists(encoded: [UInt8](try reader.bytes()))
    }
    guard let unicode = UInt32(exactly: try reader.int64()) else {
      throw .outOfRange(expected: "a stamp")
    }
    definition = IndexDefinition(
      collection: collection, name: name, parts: parts, isUnique: isUnique, filter: filter,
      weights: weights, tokenizer: tokenizer,
      unicode: version == Self.firstVersion ? UnicodeStamp.outdated : unicode)
    state = try IndexState(&reader)
    var superseded: [UInt64] = []
    if version != Self.firstVersion {
      for _ in 0..<(try reader.arrayCount()) {
        superseded.append(UInt64(bitPattern: try reader.int64()))
      }
    }
    self.superseded = superseded
  }

  private static func part(
    _ reader: inout ValueReader, _ version: Int64
  ) throws(RecordError) -> IndexDefinition.Part {
    let count = try reader.arrayCount()
    guard count == (version >= Self.version ? 5 : 4) else { throw .invalid("a part is none") }
    var path: [String] = []
    for _ in 0..<(try reader.arrayCount()) { path.append(try reader.string()) }
    guard !path.isEmpty, let code = UInt8(exactly: try reader.int64()),
      let scalar = IndexScalar(rawValue: code)
    else { throw .invalid("a part has no known kind") }
    let flags = try reader.int64()
    let absent = [UInt8](try reader.bytes())
    var outer = IndexDefinition.Part.nothing(outside: path, flags & 1 != 0)
    if version >= Self.version {
      guard try reader.arrayCount() == outer.count else { throw .invalid("a part is none") }
      for place in outer.indices { outer[place] = [UInt8](try reader.bytes()) }
    }
    return IndexDefinition.Part(
      path: path, scalar: scalar, isMultiple: flags & 1 != 0, isDescending: flags & 2 != 0,
      absent: absent, outerAbsent: outer)
  }

  init(_ definition: IndexDefinition, _ state: IndexState, superseded: [UInt64] = []) {
    self.definition = definition
    self.state = state
    self.superseded = superseded
  }

  /// The same index in another state.
  func becoming(_ state: IndexState) -> IndexRecord {
    IndexRecord(definition, state, superseded: superseded)
  }

  /// What is remembered where another definition takes the place of this one.
  func superseded(by definition: IndexDefinition) -> [UInt64] {
    let new = definition.fingerprint
    var all = superseded.filter { $0 != new && $0 != self.definition.fingerprint }
    if self.definition.fingerprint != new { all.append(self.definition.fingerprint) }
    return Array(all.suffix(Self.maximumSupersededCount))
  }
}

/// How far an index is built.
enum IndexState: Sendable, Equatable {
  /// It has every document up to this key, and every one that was saved since it was declared. With a
  /// conflict, two of them have the same value in a unique index.
  case building(upTo: [UInt8], conflict: String? = nil)
  case complete
  /// It waits for the end of a migration, empty and not maintained.
  case suspended(String)
  /// It has every document, and two that have the same value in a unique index. No third one is let in,
  /// and no query uses it, until it is built again.
  case failed(String)
  /// Nobody uses it any more. Its entries are being deleted; then its number is free.
  case dropped
  case free

  func encode(into writer: inout RecordWriter) {
    writer.putArray(count: 2)
    switch self {
    case .building(let key, nil):
      writer.put(0 as Int64)
      key.withUnsafeBytes { writer.put($0) }
    case .building(let key, let conflict?):
      writer.put(5 as Int64)
      writer.putArray(count: 2)
      key.withUnsafeBytes { writer.put($0) }
      writer.put(conflict)
    case .complete:
      writer.put(1 as Int64)
      writer.putNil()
    case .suspended(let reason):
      writer.put(2 as Int64)
      writer.put(reason)
    case .failed(let reason):
      writer.put(6 as Int64)
      writer.put(reason)
    case .dropped:
      writer.put(3 as Int64)
      writer.putNil()
    case .free:
      writer.put(4 as Int64)
      writer.putNil()
    }
  }

  init(_ reader: inout ValueReader) throws(RecordError) {
    guard try reader.arrayCount() == 2 else { throw .invalid("the state is none") }
    switch try reader.int64() {
    case 0: self = .building(upTo: [UInt8](try reader.bytes()))
    case 1 where reader.skipNil(): self = .complete
    case 2: self = .suspended(try reader.string())
    case 3 where reader.skipNil(): self = .dropped
    case 4 where reader.skipNil(): self = .free
    case 5:
      guard try reader.arrayCount() == 2 else { throw .invalid("the state is none") }
      self = .building(upTo: [UInt8](try reader.bytes()), conflict: try reader.string())
    case 6: self = .failed(try reader.string())
    case let code: throw .invalid("state \(code) is unknown")
    }
  }
}

extension Transaction where Self: ~Copyable {
  /// An index's record as this transaction sees it.
  borrowing func indexRecord(_ number: UInt32, in database: Database) throws -> IndexRecord? {
    try withUnsafeBytes(of: number.bigEndian) { key in
      try withValue(for: key, in: database) { try IndexRecord($0, number: number) }
    }
  }
}
