internal import Larder

/// Records as rows of CSV, from their bytes to those of the text: the same text as ``CSVOutput`` makes of
/// their documents where the catalogue knows all kinds.
///
/// Rare kinds, and those with rules of their own (dates, text with quotes), are read as values first, and
/// ``CSVOutput`` writes them.
struct RecordRows: ~Copyable {
  private var text = RecordOutput()
  private var json = RecordOutput()
  private var slow: CSVOutput
  private var tables: [Slots?] = []
  private let names: [String]
  private let areJSON: [Bool]
  private let delimiter: UInt8

  /// Where the fields of the columns stand in the records of one table; -1 where there is none such.
  private final class Slots {
    let slots: [Int]

    init(_ columns: [String], _ names: [String]) {
      let places = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
      slots = columns.map { places[$0] ?? -1 }
    }
  }

  /// - Parameter output: Has written the header, and nothing else.
  init(_ output: CSVOutput) {
    names = output.fieldNames
    areJSON = output.areJSON
    delimiter = output.delimiter
    slow = output
    output.bytes.withUnsafeBytes { text.put($0) }
  }

  var byteCount: Int { text.byteCount }

  /// The rows so far; valid until the next call that writes or forgets.
  var bytes: UnsafeRawBufferPointer { text.bytes }

  /// Forgets what was written, and keeps the memory that is usual.
  mutating func removeAll() { text.removeAll() }

  /// - Throws: `RecordError` for damage.
  mutating func write(_ record: borrowing RecordReader) throws(RecordError) {
    let slots = slots(of: record)
    for column in slots.slots.indices {
      if column > 0 { text.put(delimiter) }
      do throws(RecordError) {
        let slot = slots.slots[column]
        guard slot >= 0, var reader = try record.reader(ofSlot: slot) else {
          text.put("\\N")
          continue
        }
        try write(&reader, column)
      } catch {
        throw RecordError.field(names[column], error)
      }
    }
    text.put("\n")
  }

  private mutating func slots(of record: borrowing RecordReader) -> Slots {
    let number = record.tableNumber
    if number < tables.count, let slots = tables[number] { return slots }
    while tables.count <= number { tables.append(nil) }
    let slots = Slots(names, record.tableNames)
    tables[number] = slots
    return slots
  }

  private mutating func write(
    _ reader: inout ValueReader, _ column: Int
  ) throws(RecordError) {
    guard let tag = reader.nextTag else { return try writeSlowly(&reader, column) }
    switch tag {
    case 0xC0: _ = reader.skipNil()
    case 0x90...0x9F, 0xDC, 0xDD: try writeJSON(&reader)
    case _ where areJSON[column] || reader.nextIsDocument: try writeJSON(&reader)
    case 0xC2, 0xC3, 0x00...0x7F, 0xE0...0xFF, 0xCC...0xCE, 0xD0...0xD3:
      try text.write(&reader, 0)
    case 0xCA, 0xCB:
      var ahead = reader
      guard try ahead.double().isFinite else { return try writeSlowly(&reader, column) }
      try text.write(&reader, 0)
    case 0xA0...0xBF, 0xD9...0xDB:
      var ahead = reader
      guard try text.put(field: ahead.stringBytes(), delimiter) else {
        return try writeSlowly(&reader, column)
      }
      reader = ahead
    default: try writeSlowly(&reader, column)
    }
  }

  private mutating func writeJSON(_ reader: inout ValueReader) throws(RecordError) {
    json.removeAll()
    try json.write(&reader, 0)
    text.put(jsonField: json.bytes, delimiter)
  }

  private mutating func writeSlowly(
    _ reader: inout ValueReader, _ column: Int
  ) throws(RecordError) {
    let value = try reader.anyValue(nesting: 0)
    slow.removeAll()
    slow.write(value, inColumn: column)
    slow.bytes.withUnsafeBytes { text.put($0) }
  }
}

extension RecordOutput {
  /// Puts text as a field of a row, between quotes where it must be; false, and nothing is put, where it is
  /// empty, has quotes in it, or is not UTF-8.
  fileprivate mutating func put(field bytes: UnsafeRawBufferPointer, _ delimiter: UInt8) -> Bool {
    let count = bytes.count
    guard let start = bytes.baseAddress, count > 0 else { return false }
    return append(atMost: count + 2) { first in
      UnsafeMutableRawPointer(first).copyMemory(from: start, byteCount: count)
      let text = UnsafePointer(first)
      let end = text.plainRun(from: 0, to: count, repeated(delimiter))
      if end == count, !CSVOutput.isFragile(first[0], first[count - 1]),
        !CSVInference.isAmbiguous(UnsafeBufferPointer(start: text, count: count))
      {
        return count
      }
      guard text.quotedRun(from: end, to: count) == count else { return 0 }
      (first + 1).update(from: first, count: count)
      first[0] = 0x22
      first[count + 1] = 0x22
      return count + 2
    } > 0
  }

  /// Puts JSON as a field of a row, between quotes where it must be.
  fileprivate mutating func put(jsonField bytes: UnsafeRawBufferPointer, _ delimiter: UInt8) {
    guard let start = bytes.baseAddress else { return }
    let json = start.assumingMemoryBound(to: UInt8.self)
    guard json.plainRun(from: 0, to: bytes.count, repeated(delimiter)) < bytes.count else {
      return put(bytes)
    }
    _ = append(atMost: 2 * bytes.count + 2) { text in
      text[0] = 0x22
      var count = 1
      for index in 0..<bytes.count {
        text[count] = json[index]
        count &+= 1
        // Two quotes stand for one.
        text[count] = 0x22
        count &+= json[index] == 0x22 ? 1 : 0
      }
      text[count] = 0x22
      return count + 1
    }
  }
}
