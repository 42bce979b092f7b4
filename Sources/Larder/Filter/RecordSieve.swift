internal import LarderLMDB

/// Tells of most records that do not match a filter that they do not, by one number in their bytes.
///
/// Every record that matches passes; so does what is out of the ordinary. It is short enough to
/// stand in the loop over a page.
struct RecordSieve: ValueTest {
  private let slot: Int
  private let tableCount: Int
  /// The first two bytes of the value, as far as they count.
  private let tag: UInt16
  private let tagMask: UInt16
  private let tagByteCount: Int
  private let lower: Double
  private let upper: Double

  /// - Parameter step: One whose answer no makes the filter fail. Nil where it compares no number
  ///   with 8 bytes.
  init?(_ step: FilterProgram.Step, tableCount: Int) {
    guard step.slot >= 0 else { return nil }
    let number = Double(bitPattern: step.number)
    // What is equal passes everywhere: a document is asked whole behind the sieve.
    switch step.test {
    case .doubleEqual, .dateEqual: (lower, upper) = (number, number)
    case .doubleLess, .doubleAtMost, .dateLess, .dateAtMost: (lower, upper) = (-.infinity, number)
    case .doubleMore, .doubleAtLeast, .dateMore, .dateAtLeast: (lower, upper) = (number, .infinity)
    default: return nil
    }
    switch step.test {
    case .dateEqual, .dateLess, .dateAtMost, .dateMore, .dateAtLeast:
      (tag, tagMask) = (UInt16(RecordFormat.Extension.date) << 8 | 0xD7, 0xFFFF)
      tagByteCount = 2
    default:
      (tag, tagMask) = (0xCB, 0x00FF)
      tagByteCount = 1
    }
    slot = Int(step.slot)
    self.tableCount = tableCount
  }

  /// Whether the document in these bytes may match.
  @inline(__always) func passes(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let record = bytes.baseAddress.unsafelyUnwrapped
    guard bytes.count >= 8 else { return true }
    let table: Int
    let slotCount: Int
    let byteCount: Int
    let offset: Int
    let values: Int
    let head = UInt16(littleEndian: record.loadUnaligned(as: UInt16.self))
    if _fastPath(head == FilterProgram.narrowHead) {
      table = Int(record.load(fromByteOffset: 2, as: UInt8.self))
      slotCount = Int(record.load(fromByteOffset: 3, as: UInt8.self))
      byteCount = Int(record.load(fromByteOffset: 4, as: UInt8.self))
      values = 5 &+ slotCount
      guard slot < slotCount, values <= bytes.count else { return true }
      offset = Int(record.load(fromByteOffset: 5 &+ slot, as: UInt8.self))
    } else {
      guard head == FilterProgram.wideHead else { return true }
      table = FilterProgram.wideNumber(record + 2)
      slotCount = FilterProgram.wideNumber(record + 4)
      byteCount = FilterProgram.wideNumber(record + 6)
      values = 8 &+ 2 &* slotCount
      guard slot < slotCount, values <= bytes.count else { return true }
      offset = FilterProgram.wideNumber(record + (8 &+ 2 &* slot))
    }
    let place = values &+ offset &- 1
    guard offset > 0, place &+ tagByteCount &+ 8 <= byteCount, byteCount <= bytes.count,
      table < tableCount
    else { return true }
    let found = UInt16(littleEndian: record.loadUnaligned(fromByteOffset: place, as: UInt16.self))
    guard found & tagMask == tag else { return true }
    let value = Double(
      bitPattern: UInt64(
        bigEndian: record.loadUnaligned(fromByteOffset: place &+ tagByteCount, as: UInt64.self)))
    return !(value < lower || value > upper)
  }
}
