/// Where the entries of indexes stand in a file, found by what their values look like.
enum IndexEntries {
  /// The places of the entries over `code`, `shelf` and `rank` of documents, each with the four bytes
  /// of its value behind it, on leaf pages. One that is no entry's any more, on a free page, is among
  /// them.
  static func places(in file: [UInt8], labels: [Label]) -> [Range<Int>] {
    var places: [Range<Int>] = []
    let byKey = Dictionary(uniqueKeysWithValues: labels.map { (UInt64($0.id), $0) })
    // Keys are 8 bytes, big-endian, with the sign flipped.
    var at = 16
    while at + 12 <= file.count {
      defer { at += 1 }
      guard file[at] == 0x80 else { continue }
      let key = file[at + 1..<at + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      guard let label = byKey[key] else { continue }
      for (value, hashCount) in values(of: label) {
        let start = at - hashCount - value.count
        guard start >= 16, file[start..<start + value.count].elementsEqual(value),
          isLeafNode(start, keyByteCount: at + 8 - start, in: file)
        else { continue }
        places.append(start..<at + 12)
      }
    }
    return places
  }

  /// Whether a key has the header of a node with a value of four bytes in front of it.
  private static func isLeafNode(_ start: Int, keyByteCount: Int, in file: [UInt8]) -> Bool {
    let page = start / Damage.pageByteCount * Damage.pageByteCount
    return file[page + 10] == 2
      && file[start - 8..<start].elementsEqual([
        4, 0, 0, 0, 0, 0, UInt8(keyByteCount & 0xFF), UInt8(keyByteCount >> 8),
      ])
  }

  /// What stands in entries in front of the key, and how many bytes of a hash follow that.
  private static func values(of label: Label) -> [([UInt8], Int)] {
    func integer(_ value: Int) -> [UInt8] { value == 0 ? [0x20] : [0x21, UInt8(value)] }
    let code = [0x3C] + Array(label.code.utf8) + [0, 1]
    return [
      (integer(label.shelf), 0), (integer(label.rank), 0),
      code.count <= 250 ? (code, 0) : (Array(code.prefix(250)), 6),
    ]
  }
}
