import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct RecordWriterTests {
  @Test("a string of any length is in the shortest form of MessagePack, whatever room is left")
  func strings() throws {
    for count in Array(0...80) + [254, 255, 256, 257, 65_535, 65_536] {
      for text in [String(repeating: "x", count: count), accented(byteCount: count)] {
        for room in count < 300 ? Array(0...72) : [0, 70_000] {
          var writer = RecordWriter(binding: .none, capacity: 128)
          let before = [UInt8](repeating: 0xEE, count: max(0, 128 - room))
          before.withUnsafeBytes { writer.append($0) }

          writer.put(text)

          #expect(writer.withBytes { [UInt8]($0) } == before + shortest(text), "\(count) \(room)")
        }
      }
    }
  }

  @Test("a few bytes are copied whole, and none beside them is read or written")
  func copies() {
    let source = (0..<64).map { UInt8($0) }
    for count in 0..<32 {
      for start in [0, 1, 7, 32] {
        var target = [UInt8](repeating: 0xEE, count: 64)
        // In memory of its own size, so that reading beyond it is found by an address sanitizer.
        let bytes = Array(source[start..<start + count])

        bytes.withUnsafeBytes { bytes in
          target.withUnsafeMutableBytes { target in
            guard let from = bytes.baseAddress, let to = target.baseAddress else { return }
            Bytes.copyFew(from, to: to + start, count)
          }
        }

        var expected = [UInt8](repeating: 0xEE, count: 64)
        expected.replaceSubrange(start..<start + count, with: bytes)
        #expect(target == expected, "\(count) \(start)")
      }
    }
  }

  @Test("a record has the offset of each value, whatever slots are put in whatever order")
  func offsets() throws {
    var random = RandomSource()
    var writer = RecordWriter(binding: .none, capacity: 64)
    for round in 0..<2000 {
      let slotCount = random.int(0..<[4, 20, 45, 300][round % 4])
      let longest = [2, 20, 400, 3000][random.int(0..<4)]
      let share = random.int(1..<5)
      var values = (0..<slotCount).map { _ in
        random.int(0..<share) > 0 || share == 1
          ? String(repeating: "v", count: random.int(0..<longest)) : nil
      }
      let table = [0, 1, 255, 256, 65_535, 65_536][random.int(0..<6)]
      var slots = values.indices.filter { values[$0] != nil }
      if random.bool() { slots.shuffle(using: &random) }
      if random.bool() { writer.removeAll() }

      _ = writer.begin(RecordWriter.Frame(table: table, slotCount: slotCount))
      for slot in slots {
        writer.beginValue(slot: slot)
        writer.put(try #require(values[slot]))
      }
      let range = try [].withUnsafeBytes { try writer.endDocument(key: $0) }

      let bytes = writer.withBytes { [UInt8]($0[range].dropLast(RecordFormat.checksumByteCount)) }
      while values.last == .some(nil) { values.removeLast() }
      #expect(bytes == record(values, table: table), "\(round) \(random.hint)")
    }
  }

  /// A record by the drawing above ``RecordFormat``, in the simplest way.
  private func record(_ values: [String?], table: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var offsets: [Int] = []
    for value in values {
      offsets.append(value == nil ? 0 : bytes.count + 1)
      if let value { bytes += shortest(value) }
    }
    for (shift, largest) in [0xFF, 0xFFFF, 0xFFFF_FFFF].enumerated() {
      let length = 2 + (3 + values.count) << shift + bytes.count
      guard max(length, table, values.count) <= largest else { continue }
      let numbers = ([table, values.count, length] + offsets).flatMap { number in
        (0..<1 << shift).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
      }
      return [RecordFormat.marker, RecordFormat.version | UInt8(shift)] + numbers + bytes
    }
    return []
  }

  private func shortest(_ text: String) -> [UInt8] {
    let count = text.utf8.count
    let low = UInt8(truncatingIfNeeded: count)
    let high = UInt8(truncatingIfNeeded: count >> 8)
    let tag: [UInt8] =
      switch count {
      case ..<32: [0xA0 | low]
      case ..<256: [0xD9, low]
      case ..<65_536: [0xDA, high, low]
      default: [0xDB, 0, UInt8(truncatingIfNeeded: count >> 16), high, low]
      }
    return tag + Array(text.utf8)
  }

  private func accented(byteCount: Int) -> String {
    String(repeating: "é", count: byteCount / 2) + (byteCount % 2 == 0 ? "" : "e")
  }
}
