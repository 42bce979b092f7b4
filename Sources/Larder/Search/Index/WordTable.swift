/// Numbers words by their bytes, from zero in the order in which they come.
struct WordTable {
  private var memory = Memory(byteCount: Self.leastByteCount)
  private var used = 0
  private var starts: [UInt32] = [0]
  private var hashes: [UInt32] = []
  /// A word's number and one, by its hash; zero where there is none.
  private var slots: [UInt32] = Array(repeating: 0, count: 64)

  // A save of one document has a few words, and a search fewer.
  private static var leastByteCount: Int { 256 }

  /// The bytes of the words, at addresses that stay until a word is added.
  private final class Memory {
    let bytes: UnsafeMutableRawBufferPointer

    init(byteCount: Int) { bytes = .allocate(byteCount: byteCount, alignment: 8) }

    deinit { bytes.deallocate() }
  }

  var count: Int { hashes.count }
  var byteCount: Int { used + 8 * hashes.count + 4 * slots.count }

  /// Forgets all words, and gives most of its memory back.
  mutating func removeAll() {
    if memory.bytes.count > 1 << 12 { memory = Memory(byteCount: Self.leastByteCount) }
    used = 0
    starts.removeSubrange(1...)
    hashes.removeAll(keepingCapacity: hashes.count <= 256)
    if slots.count > 512 {
      slots = Array(repeating: 0, count: 64)
    } else {
      for slot in slots.indices { slots[slot] = 0 }
    }
  }

  /// Lent until a word is added.
  subscript(_ word: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: memory.bytes[Int(starts[word])..<Int(starts[word + 1])])
  }

  mutating func number(of term: UnsafeRawBufferPointer) -> Int {
    let hash = Self.hash(term)
    let slot = slot(of: term, hash)
    if slots[slot] != 0 { return Int(slots[slot]) &- 1 }
    let word = hashes.count
    slots[slot] = UInt32(truncatingIfNeeded: word &+ 1)
    hashes.append(hash)
    append(term)
    starts.append(UInt32(truncatingIfNeeded: used))
    if hashes.count &* 2 > slots.count { grow() }
    return word
  }

  /// The number of a word; nil where it has none.
  func find(_ term: UnsafeRawBufferPointer) -> Int? {
    let number = slots[slot(of: term, Self.hash(term))]
    return number == 0 ? nil : Int(number) &- 1
  }

  @inline(__always)
  private static func hash(_ term: UnsafeRawBufferPointer) -> UInt32 {
    UInt32(truncatingIfNeeded: Checksum.hash(term, seed: 0))
  }

  /// The slot that a word has, or would have.
  @inline(__always)
  private func slot(of term: UnsafeRawBufferPointer, _ hash: UInt32) -> Int {
    var slot = Int(hash) & (slots.count &- 1)
    while slots[slot] != 0 {
      let word = Int(slots[slot]) &- 1
      if hashes[word] == hash, Bytes.equal(self[word], term) { return slot }
      slot = (slot &+ 1) & (slots.count &- 1)
    }
    return slot
  }

  private mutating func append(_ term: UnsafeRawBufferPointer) {
    // Another copy of the table may have words behind those that both have.
    if used + term.count > memory.bytes.count || !isKnownUniquelyReferenced(&memory) {
      let larger = Memory(byteCount: 2 * memory.bytes.count + term.count)
      larger.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory.bytes[..<used]))
      memory = larger
    }
    UnsafeMutableRawBufferPointer(rebasing: memory.bytes[used...]).copyMemory(from: term)
    used += term.count
  }

  private mutating func grow() {
    slots = Array(repeating: 0, count: slots.count * 2)
    for (word, hash) in hashes.enumerated() {
      var slot = Int(hash) & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = UInt32(truncatingIfNeeded: word + 1)
    }
  }
}
