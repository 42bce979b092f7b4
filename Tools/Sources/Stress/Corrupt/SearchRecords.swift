/// Where the records of a search index stand in a file, found by what their keys look like.
enum SearchRecords {
  /// The places of their keys, and of their values, on leaf pages and on pages of their own. One that is nobody's any
  /// more, on a free page, is among them.
  static func places(in file: [UInt8], ids: Set<String>) -> [Range<Int>] {
    var places: [Range<Int>] = []
    let keys = Set(ids.map { Array($0.utf8) })
    for page in stride(from: 0, to: file.count - Damage.pageByteCount + 1, by: Damage.pageByteCount)
    where number(at: page + 10, in: file) == 2 {
      let end = number(at: page + 12, in: file)
      guard 16...Damage.pageByteCount ~= end else { continue }
      for pointer in stride(from: 16, to: end - 1, by: 2) {
        let node = page + number(at: page + pointer, in: file)
        guard node + 8 <= page + Damage.pageByteCount else { continue }
        let byteCount = number(at: node, in: file) | number(at: node + 2, in: file) << 16
        let key = node + 8..<node + 8 + number(at: node + 6, in: file)
        guard key.upperBound <= page + Damage.pageByteCount, isRecord(file[key], keys) else {
          continue
        }
        places.append(key)
        // A large value stands on pages of its own, whose number is here.
        var value = key.upperBound
        if file[node + 4] & 1 != 0 {
          var number = 0
          for part in 0..<3 { number |= self.number(at: value + 2 * part, in: file) << (16 * part) }
          value = number * Damage.pageByteCount + 16
        }
        if byteCount > 0, value + byteCount <= file.count {
          places.append(value..<value + byteCount)
        }
      }
    }
    return places
  }

  /// The first byte says of what sort it is; the other keys of the store do not look like these.
  private static func isRecord(_ key: ArraySlice<UInt8>, _ ids: Set<[UInt8]>) -> Bool {
    switch key.first {
    case 0: key.count == 1
    case 1, 6: ids.contains(Array(key.dropFirst()))
    case 3, 4: key.count == 5
    case 5: key.count > 5 && key.dropFirst().prefix(2).allSatisfy { $0 == 0 }
    default: false
    }
  }

  private static func number(at place: Int, in file: [UInt8]) -> Int {
    Int(file[place]) | Int(file[place + 1]) << 8
  }
}
