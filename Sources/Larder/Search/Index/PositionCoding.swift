/// How the places of a word in a document are written, each as a number and two notes in its lowest
/// bits: whether it is the last one, and whether it is a step to another field.
struct PositionCoding {
  private let shift: UInt32
  private static let last: UInt32 = 1
  private static let field: UInt32 = 2

  init(fieldCount: Int) { shift = fieldCount > 1 ? 2 : 1 }

  struct Encoder {
    private var field: UInt32 = 0
    private var position: UInt32 = 0

    @inline(__always)
    mutating func put(
      _ field: UInt32, _ position: UInt32, isLast: Bool, _ coding: PositionCoding,
      into bytes: inout [UInt8]
    ) {
      if field != self.field {
        bytes.append(varint: UInt64(field - self.field) << 2 | UInt64(PositionCoding.field))
        self.field = field
        self.position = 0
      }
      let step = UInt64(position - self.position) << UInt64(coding.shift)
      bytes.append(varint: step | (isLast ? UInt64(PositionCoding.last) : 0))
      self.position = position
    }
  }

  /// Writes places, each the field in its upper half and the position in its lower, ascending.
  func encode(_ places: [UInt64], into bytes: inout [UInt8]) {
    var encoder = Encoder()
    for (number, place) in places.enumerated() {
      encoder.put(
        UInt32(place >> 32), UInt32(truncatingIfNeeded: place), isLast: number == places.count - 1,
        self, into: &bytes)
    }
  }

  /// Reads the places of one posting.
  @inline(__always)
  func read(
    _ reader: inout VarintReader, _ body: (_ field: UInt32, _ position: UInt32) -> Void
  ) throws(SearchDamage) {
    var field: UInt32 = 0
    var position: UInt32 = 0
    while true {
      let code = try reader.number()
      if shift == 2, code & Self.field != 0 {
        field &+= code >> 2
        position = 0
        continue
      }
      position &+= code >> shift
      body(field, position)
      if code & Self.last != 0 { return }
    }
  }

  /// The bytes of one posting's places.
  @inline(__always)
  func skip(_ reader: inout VarintReader) throws(SearchDamage) -> UnsafeRawBufferPointer {
    let start = reader.at
    while true {
      let code = try reader.number()
      if shift == 2, code & Self.field != 0 { continue }
      if code & Self.last != 0 { break }
    }
    return UnsafeRawBufferPointer(start: start, count: reader.at - start)
  }

  /// Goes past the places of some postings. A number has its lowest bits in its first byte.
  @inline(__always)
  func skip(_ count: Int, _ reader: inout VarintReader) throws(SearchDamage) {
    var left = count
    while left > 0 {
      if try reader.skip() & UInt8(Self.last) != 0 { left -= 1 }
    }
  }
}
