internal import Synchronization

/// A keyed container that is being decoded.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: KeyedMembers

  private var decoder: ValueDecoder { members.decoder }

  var codingPath: [any CodingKey] { decoder.codingPath }

  var allKeys: [Key] {
    guard decoder.isLent else { return [] }
    return members.keys.compactMap { key in
      switch key {
      case .name(let name): Key(stringValue: name)
      case .index(let number): Key(intValue: number)
      }
    }
  }

  // Where this throws, reading the value says what is wrong.
  func contains(_ key: Key) -> Bool { (try? find(key) != nil) ?? true }

  /// A reader in front of the value under a key; nil where there is none.
  @inline(__always)
  private func find<Other: CodingKey>(_ key: Other) throws -> ValueReader? {
    guard members.input.isLent else { return nil }
    do throws(RecordError) {
      let found = try members.value(named: key.stringValue)
      guard found == nil, members.hasNumbers, let number = key.intValue else { return found }
      return members.value(numbered: number)
    } catch {
      throw members.decodingError(error, Any.self, at: nil, key)
    }
  }

  @inline(__always)
  private func value<Other: CodingKey>(_ key: Other) throws -> ValueReader {
    if let reader = try find(key) { return reader }
    try throwMissing(key)
  }

  @inline(never) private func throwMissing(_ key: any CodingKey) throws -> Never {
    try decoder.coding(Any.self) { () throws(RecordError) in try decoder.checkLent() }
    throw DecodingError.keyNotFound(
      key,
      DecodingError.Context(
        codingPath: codingPath, debugDescription: "there is no `\(key.stringValue)`"))
  }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).nextIsNil }

  // The compiler makes one of its own for each type that the protocol names.
  @inline(__always)
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    let start = try value(key)
    var reader = start
    do throws(RecordError) {
      if let value = try reader.frequent(type) { return value }
    } catch {
      return try decoder.decodeText(type, at: start, key, insteadOf: error)
    }
    return try decoder.decodeOther(type, from: &reader, key)
  }

  func decodeIfPresent<Value: Decodable>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value? {
    guard var reader = try find(key), !reader.nextIsNil else { return nil }
    let traits = CodingTraits.of(type)
    // An optional inside the optional keeps its own level.
    if traits.isOptional { return try decoder.decode(Value?.self, from: &reader, key) }
    return try decoder.decode(type, traits, from: &reader, key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try nested(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try nested(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try nested(PathKey.super) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }

  private func nested<Other: CodingKey>(_ key: Other) throws -> ValueDecoder {
    decoder.inner(try value(key), key)
  }
}

/// The values of a keyed container, by their keys. Only while the bytes are lent.
class KeyedMembers {
  final let decoder: ValueDecoder
  /// The decoder's own, one step nearer.
  final let input: CodableInput
  /// Whether there may be keys that are integers.
  final let hasNumbers: Bool
  /// Where the next key often is, as types ask for their keys in one order each time.
  fileprivate final let next = Atomic(0)

  fileprivate init(_ decoder: ValueDecoder, hasNumbers: Bool) {
    self.decoder = decoder
    input = decoder.input
    self.hasNumbers = hasNumbers
  }

  // Apart: asking for the decoder each time would retain it.
  @inline(never) fileprivate final func decodingError<Key: CodingKey>(
    _ error: RecordError, _ type: Any.Type, at place: ValueReader?, _ key: Key
  ) -> DecodingError {
    decoder.decodingError(error, type, at: place, key)
  }

  /// A reader in front of the value under a key; nil where there is none.
  func value(named name: String) throws(RecordError) -> ValueReader? { nil }
  func value(numbered number: Int) -> ValueReader? { nil }
  /// The keys of the values: texts, or integers.
  var keys: [PathKey] { [] }
}

final class RecordMembers: KeyedMembers {
  private let record: RecordReader
  private let table: FieldTable

  init(_ reader: ValueReader, _ decoder: ValueDecoder) throws(RecordError) {
    guard reader.depth < RecordFormat.maximumDepth else { throw .tooDeep }
    let binding = reader.binding
    record = try RecordReader(
      reader.rest, binding: binding, schema: binding.anonymous, depth: reader.depth + 1)
    table = binding.collection.tables[record.table]
    super.init(decoder, hasNumbers: false)
  }

  override func value(named name: String) throws(RecordError) -> ValueReader? {
    var slot = next.load(ordering: .relaxed)
    if slot >= table.fields.count || table.fields[slot].name != name {
      guard let found = table.slot(of: name) else { return nil }
      slot = found
    }
    next.store(slot + 1, ordering: .relaxed)
    return try record.value(inSlot: slot)
  }

  override var keys: [PathKey] {
    (0..<min(record.slotCount, table.fields.count)).compactMap { slot in
      // Where this throws, reading the value says what is wrong.
      let isThere = (try? record.value(inSlot: slot) != nil) ?? true
      return isThere ? .name(table.fields[slot].name) : nil
    }
  }
}

final class MapMembers: KeyedMembers {
  private let pairs: [Pair]
  private let hasText: Bool
  /// Made when it is first needed: whoever asks for the keys in their order needs none.
  private let index = AtomicLazyReference<PairIndex>()

  /// Dictionaries of up to so many pairs are looked through, larger ones have an index.
  private static var fewCount: Int { 16 }

  fileprivate struct Pair {
    /// nil for a key that is not text.
    var text: UnsafeRawBufferPointer?
    /// nil for a key that is no integer.
    var number: Int?
    /// In front of the value.
    let value: ValueReader
  }

  init(_ reader: ValueReader, _ decoder: ValueDecoder) throws(RecordError) {
    var reader = reader
    let count = try reader.mapCount()
    var pairs: [Pair] = []
    pairs.reserveCapacity(min(count, 1024))
    for _ in 0..<count {
      var key = reader
      try reader.skipOne()
      var pair = Pair(value: reader)
      if key.nextIsString {
        pair.text = try key.stringBytes()
      } else if case .integer(let number)? = try? key.value() {  // Others are no keys.
        pair.number = Int(exactly: number)
      }
      pairs.append(pair)
      try reader.skipOne()
    }
    self.pairs = pairs
    hasText = pairs.contains { $0.text != nil }
    super.init(decoder, hasNumbers: pairs.contains { $0.number != nil })
  }

  override func value(named name: String) -> ValueReader? {
    guard hasText else { return nil }
    var name = name
    return name.withUTF8 { name in
      let name = UnsafeRawBufferPointer(name)
      return value {
        $0.text.map { Bytes.equal($0, name) } ?? false
      } indexed: {
        $0.texts.place(of: name, from: $1)
      }
    }
  }

  override func value(numbered number: Int) -> ValueReader? {
    value {
      $0.number == number
    } indexed: {
      $0.numbers.place(of: number, from: $1)
    }
  }

  /// The value of the first such pair from the next one on, and around.
  @inline(__always) private func value(
    where isIt: (Pair) -> Bool, indexed: (PairIndex, Int) -> Int?
  ) -> ValueReader? {
    let first = next.load(ordering: .relaxed)
    let found: Int?
    if pairs.count <= Self.fewCount {
      found =
        (first..<pairs.count).first { isIt(pairs[$0]) } ?? (0..<first).first { isIt(pairs[$0]) }
    } else if first < pairs.count, isIt(pairs[first]) {
      found = first
    } else {
      found = indexed(index.load() ?? index.storeIfNil(PairIndex(pairs)), first)
    }
    guard let found else { return nil }
    next.store(found + 1, ordering: .relaxed)
    return pairs[found].value
  }

  override var keys: [PathKey] {
    pairs.compactMap { pair in
      if let number = pair.number { return .index(number) }
      return pair.text.flatMap { String(validating: $0, as: UTF8.self) }.map { .name($0) }
    }
  }
}

/// Where the pairs of a dictionary are, by their keys.
private final class PairIndex {
  let texts: SortedKeys<UnsafeRawBufferPointer>
  let numbers: SortedKeys<Int>

  init(_ pairs: [MapMembers.Pair]) {
    texts = SortedKeys(pairs.map(\.text)) { Bytes.compare($0, $1) }
    numbers = SortedKeys(pairs.map(\.number)) { $0 < $1 ? -1 : $0 == $1 ? 0 : 1 }
  }
}

/// Keys in their order, and equal ones in the order of their places.
private struct SortedKeys<Key> {
  private let keys: [(key: Key, place: Int)]
  private let compare: (Key, Key) -> Int

  /// - Parameter keys: At their places; nil where there is none.
  init(_ keys: [Key?], by compare: @escaping (Key, Key) -> Int) {
    var found: [(key: Key, place: Int)] = []
    for (place, key) in keys.enumerated() {
      if let key { found.append((key, place)) }
    }
    found.sort {
      let order = compare($0.key, $1.key)
      return order < 0 || order == 0 && $0.place < $1.place
    }
    self.keys = found
    self.compare = compare
  }

  /// The first place of a key from `start` on, or else the first of all; nil where it has none.
  func place(of key: Key, from start: Int) -> Int? {
    firstPlace(of: key, from: start) ?? firstPlace(of: key, from: 0)
  }

  private func firstPlace(of key: Key, from start: Int) -> Int? {
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      let order = compare(keys[middle].key, key)
      if order < 0 || order == 0 && keys[middle].place < start {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < keys.count, compare(keys[low].key, key) == 0 else { return nil }
    return keys[low].place
  }
}
