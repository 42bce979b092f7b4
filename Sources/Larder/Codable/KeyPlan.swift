internal import Synchronization

/// What the coder knows of a type of coding keys; found out once per type.
struct KeyPlan {
  let type: any CodingKey.Type
  /// Whether one byte tells which key it is, as in nearly every enum of keys: what is known of a
  /// key is then found by that byte, and its name is asked for once.
  let isCompact: Bool
  /// Whether any text at all is a key, as in a dictionary.
  let takesAnyName: Bool
  /// Addresses of a ``KeyName`` each, by byte; 0 where it was not asked for yet.
  private let names: UnsafeMutablePointer<Atomic<UInt>>

  private static let table = TypeTable<KeyPlan>()

  @inline(__always) static func of<Key: CodingKey>(_ type: Key.Type) -> UnsafePointer<KeyPlan> {
    table.element(of: type) { KeyPlan(type) }
  }

  private init<Key: CodingKey>(_ type: Key.Type) {
    self.type = type
    isCompact = _isPOD(type) && MemoryLayout<Key>.size <= 1
    takesAnyName = Key(stringValue: "\u{1}any name at all\u{1}") != nil
    let count = isCompact ? 256 : 0
    names = .allocate(capacity: count)
    for byte in 0..<count { (names + byte).initialize(to: Atomic(0)) }
  }

  /// Whether the type has a key of this name.
  func knows(_ name: String) -> Bool { takesAnyName || type.init(stringValue: name) != nil }
}

/// The name of a key, as it stands in front of a value. Lives for ever.
struct KeyName {
  let string: String
  let keys: UnsafePointer<KeyPlan>
  /// The byte that the key is known by.
  let byte: Int
  /// As MessagePack has it.
  let encoded: UnsafeRawBufferPointer
  /// See ``Swift/UnsafeRawBufferPointer/keyPrefix``.
  let prefix: UInt64

  init(_ string: String, _ keys: UnsafePointer<KeyPlan>, byte: Int) {
    self.string = string
    self.keys = keys
    self.byte = byte
    var writer = RecordWriter(binding: .none, capacity: string.utf8.count + 8)
    writer.put(string)
    let bytes = writer.withBytes { written in
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: written.count, alignment: 8)
      copy.copyMemory(from: written)
      return UnsafeRawBufferPointer(copy)
    }
    encoded = bytes
    prefix = bytes.keyPrefix
  }
}

extension UnsafePointer<KeyPlan> {
  /// The name of a key; nil for types whose keys one byte does not tell apart.
  @inline(__always) func name<Key: CodingKey>(of key: Key) -> UnsafePointer<KeyName>? {
    guard pointee.isCompact else { return nil }
    let byte = KeyPlan.byte(of: key)
    let found = pointee.address(at: byte)
    return UnsafePointer<KeyName>(bitPattern: found) ?? pointee.add(key, self, byte)
  }
}

extension KeyPlan {
  @inline(__always) fileprivate static func byte<Key>(of key: Key) -> Int {
    MemoryLayout<Key>.size == 0 ? 0 : Int(unsafeBitCast(key, to: UInt8.self))
  }

  @inline(__always) fileprivate func address(at byte: Int) -> UInt {
    names[byte].load(ordering: .acquiring)
  }

  @inline(never) fileprivate func add(
    _ key: some CodingKey, _ keys: UnsafePointer<KeyPlan>, _ byte: Int
  ) -> UnsafePointer<KeyName> {
    let name = UnsafeMutablePointer<KeyName>.allocate(capacity: 1)
    name.initialize(to: KeyName(key.stringValue, keys, byte: byte))
    let (isExchanged, original) = names[byte].compareExchange(
      expected: 0, desired: UInt(bitPattern: name), ordering: .acquiringAndReleasing)
    guard !isExchanged, let first = UnsafePointer<KeyName>(bitPattern: original) else {
      return UnsafePointer(name)
    }
    // Another thread was faster. Its name is the same; this one's bytes are few, and stay.
    name.deinitialize(count: 1)
    name.deallocate()
    return first
  }
}

extension UnsafeRawBufferPointer {
  /// The first 8 of these bytes as a number, with zeros behind fewer: it is in the order of the
  /// bytes, and most comparisons of keys end with it.
  @inline(__always) var keyPrefix: UInt64 {
    if count >= 8 { return UInt64(bigEndian: loadUnaligned(as: UInt64.self)) }
    var prefix: UInt64 = 0
    for place in 0..<count { prefix |= UInt64(self[place]) &<< UInt64(56 &- 8 &* place) }
    return prefix
  }
}
