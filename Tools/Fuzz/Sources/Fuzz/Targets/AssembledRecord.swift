@testable import Larder

/// A record whose header is made here from its table, its number of slots, and its values, each
/// behind its slot: the fuzzer changes the values without breaking the offsets.
struct AssembledRecord {
  private(set) var bytes: [UInt8] = []

  init(_ input: FuzzInput) {
    var input = input
    let table = input.byte()
    let slotCount = Int(input.byte())
    var offsets = [Int](repeating: 0, count: slotCount)
    var values: [UInt8] = []
    while !input.isEmpty, values.count < 60_000 {
      let slot = Int(input.byte())
      let value = input.part()
      if slot < slotCount { offsets[slot] = values.count + 1 }
      values += value
    }
    let count = 2 + 2 * (3 + slotCount) + values.count
    bytes = [RecordFormat.marker, RecordFormat.version | 1]
    for number in [Int(table), slotCount, min(count, 65_535)] + offsets {
      bytes += [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
    }
    bytes += values
  }

  /// The input that becomes this record.
  static func disassembled(_ record: [UInt8], _ binding: CollectionBinding) -> [UInt8] {
    record.withUnsafeBytes { bytes in
      guard
        let record = try? RecordReader(
          bytes, binding: binding, schema: binding.anonymous, depth: 1)
      else { broken("a record of the tests can be read") }
      var input = [UInt8(record.table), UInt8(record.slotCount)]
      for slot in 0..<record.slotCount {
        guard let value = try? record.value(inSlot: slot) else { continue }
        var end = value
        guard (try? end.skip()) != nil else { broken("a value of the tests can be read") }
        let part = UnsafeRawBufferPointer(start: value.at, count: end.at - value.at)
        input += [UInt8(slot)] + FuzzInput.encoded(part: [UInt8](part))
      }
      return input
    }
  }
}
