/// Hashes of all keys of an import, to find keys that stand twice. Each takes 8 bytes, and up to 6 more during the
/// search.
struct KeyHashes: Sendable {
  /// In pieces, which need not be copied as they become more.
  private var full: [[UInt64]] = []
  private var latest: [UInt64] = []

  private static let pieceCount = 1 << 14

  mutating func append(_ key: UnsafeRawBufferPointer) { append(Self.hash(of: key)) }

  mutating func append(_ hashes: [UInt64]) {
    for hash in hashes { append(hash) }
  }

  private mutating func append(_ hash: UInt64) {
    if latest.count == Self.pieceCount { full.append(exchange(&latest, with: [])) }
    if latest.isEmpty, !full.isEmpty { latest.reserveCapacity(Self.pieceCount) }
    latest.append(hash)
  }

  static func hash(of key: UnsafeRawBufferPointer) -> UInt64 { Checksum.hash(key, seed: 0) }

  /// The hashes that keys share: those of keys that stand twice and, seldom, of two that differ.
  ///
  /// Only those are sorted that share some of their bits with others: about an eighth of all at most, where all
  /// differ. For a million this takes 0.012 s; sorting all of them takes 0.07 s.
  func repeated() -> Set<UInt64> {
    var suspects = suspects()
    suspects.sort()
    var repeated: Set<UInt64> = []
    for index in suspects.indices.dropFirst() where suspects[index] == suspects[index - 1] {
      repeated.insert(suspects[index])
    }
    return repeated
  }

  /// All hashes that may not be the only ones, which few are where all differ.
  private func suspects() -> [UInt64] {
    let count = full.count * Self.pieceCount + latest.count
    // 8 to 16 places for each, twice: two to four bytes.
    let wordCount = 1 << (Int.bitWidth - (count / 8).leadingZeroBitCount)
    let mask = UInt64(wordCount - 1)
    var met = [UInt64](repeating: 0, count: wordCount)
    var metAgain = met
    let pieces = full + [latest]
    for piece in pieces {
      for hash in piece {
        let (word, bit) = (Int(hash >> 6 & mask), UInt64(1) << (hash & 63))
        metAgain[word] |= met[word] & bit
        met[word] |= bit
      }
    }
    met = []
    return pieces.reduce(into: []) { suspects, piece in
      for hash in piece where metAgain[Int(hash >> 6 & mask)] & 1 << (hash & 63) != 0 {
        suspects.append(hash)
      }
    }
  }
}

extension SaveRehearsal {
  /// Documents whose keys stand several times, found among all by going through them again.
  public struct RepeatedKeys {
    private let hashes: Set<UInt64>
    private var known: [[UInt8]: (first: Int, latest: Int)] = [:]
    /// Whether the last document that was asked for may have others with the same key.
    public private(set) var mayRepeat = false
    private let keyField: String
    private let keyKind: KeyKind

    fileprivate init?(_ hashes: Set<UInt64>, _ keyField: String, _ keyKind: KeyKind) {
      guard !hashes.isEmpty else { return nil }
      self.hashes = hashes
      self.keyField = keyField
      self.keyKind = keyKind
    }

    /// The numbers that documents with the same key were given: the one that came first, and the latest; nil for a
    /// document with a key of its own so far.
    public mutating func earlier(
      than document: DynamicDocument, number: Int
    ) -> (first: Int, latest: Int)? {
      let key = document[keyField]?.encodedKey(of: keyKind)
      mayRepeat =
        key.map { hashes.contains($0.withUnsafeBytes { KeyHashes.hash(of: $0) }) } ?? false
      guard let key, mayRepeat else { return nil }
      let earlier = known[key]
      known[key] = (earlier?.first ?? number, number)
      return earlier
    }
  }

  /// What finds the documents among those given whose keys stand several times; nil where no key does.
  ///
  /// Can be asked once: the hashes of the keys are freed.
  public mutating func repeatedKeys() -> RepeatedKeys? {
    guard let keyKind else { return nil }
    let hashes = exchange(&keyHashes, with: KeyHashes())
    return RepeatedKeys(hashes.repeated(), keyField, keyKind)
  }

  /// The last of the documents that has the key that an error names.
  public func index(of key: String, in documents: [DynamicDocument]) -> Int? {
    guard let keyKind else { return nil }
    return documents.lastIndex { document in
      document[keyField]?.encodedKey(of: keyKind)?.withUnsafeBytes { keyKind.text(of: $0) } == key
    }
  }
}
