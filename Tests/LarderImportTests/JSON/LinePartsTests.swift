import LarderTestKit
import Testing

@testable import LarderImport

@Suite("Parts of a file with a document in each line")
struct LinePartsTests {
  /// The parts of a text.
  private func parts(
    _ bytes: [UInt8], _ limit: LineParts.Limit, pieces: [Int] = [65_536],
    lineByteCount: Int = 1 << 20
  ) -> [LinePart] {
    var parts = LineParts(
      ByteSource(bytes: bytes, name: "test.json", pieceByteCounts: pieces),
      behind: [], at: TextMark(), limit)
    var all: [LinePart] = []
    while let part = parts.next(lineByteCount: lineByteCount) { all.append(part) }
    return all
  }

  private func bytes(of part: LinePart) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: part.end - part.start.offset) { room, count in
      count = part.copyBytes(from: part.start.offset, to: UnsafeMutableRawBufferPointer(room))
    }
  }

  @Test("they are the text, cut behind line feeds, each as long as it may be")
  func cuts() {
    var random = RandomSource()
    for _ in 0..<repetitions(300) {
      let text = (0..<random.int(0..<3_000)).map { _ in
        random.once(in: random.pick([2, 30, 400])) ? 0x0A : UInt8(ascii: "x")
      }
      // A line may be as long as the longest there is.
      let longest = text.split(separator: 0x0A).map(\.count).max() ?? 0
      let limit = LineParts.Limit(
        byteCount: random.pick([1, 40, 700, 10_000]), lineCount: random.pick([1, 3, 50, .max]))
      let all = parts(
        text, limit, pieces: random.pick([[65_536], [1, 9, 130], [700]]), lineByteCount: longest)
      let comment = Comment(rawValue: "\(random.hint) \(limit)")

      #expect(all.flatMap(bytes(of:)) == text, comment)
      var place = TextMark()
      for (number, part) in all.enumerated() {
        let bytes = bytes(of: part)
        #expect(part.start.offset == place.offset && part.start.line == place.line, comment)
        place = TextMark(offset: part.end, line: place.line + bytes.count { $0 == 0x0A })
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        // With the last line it has enough of one of both, and not before.
        let count = lines.count - (bytes.last == 0x0A ? 1 : 0)
        if number < all.count - 1 {
          #expect(bytes.last == 0x0A, comment)
          #expect(count >= limit.lineCount || bytes.count >= limit.byteCount, comment)
        }
        let last = lines[max(count - 1, 0)].count + (bytes.last == 0x0A ? 1 : 0)
        #expect(count - 1 < limit.lineCount && bytes.count - last < limit.byteCount, comment)
      }
    }
  }

  @Test("documents, and errors with their places, are those of the whole text")
  func documents() {
    var random = RandomSource()
    var (goodCount, badCount) = (0, 0)
    for _ in rounds(repetitions(400), until: { goodCount > 100 && badCount > 100 }) {
      let file = RandomFile(&random)
      let lines = (0..<random.int(1..<60)).map { number in
        file.document(&random, number: number, key: "id") + (random.once(in: 9) ? " \n" : "")
      }
      var text = Array(lines.joined(separator: random.pick(["\n", "\r\n"])).utf8)
      if random.bool() { text.append(0x0A) }
      if random.once(in: 4) { text = [0xEF, 0xBB, 0xBF] + text }
      for _ in 0..<random.int(0..<3) {
        text[random.int(0..<text.count)] = random.pick(Array("\",:{}[]0x-.e\nnt\\".utf8) + [0xC3])
      }
      var limits = JSONLimits()
      if random.once(in: 4) { limits.lineByteCount = random.int(20..<200) }
      let whole = JSONProbe.outcome(text, .lines, limits: limits)

      var divided = JSONProbe.Outcome()
      let limit = LineParts.Limit(
        byteCount: random.pick([1, 100, 2_000]), lineCount: random.pick([1, 7, .max]))
      var reader = JSONReader(
        ByteSource(bytes: [], name: "test.json"), shape: .lines, limits: limits)
      do throws(ImportError) {
        for part in parts(text, limit, lineByteCount: limits.lineByteCount) {
          reader.begin(part)
          while try reader.next() { divided.documents.append(reader.document()) }
        }
      } catch {
        divided.error = error
      }

      #expect(
        divided.exact == whole.exact, "\(random.hint) \(String(decoding: text, as: UTF8.self))")
      if whole.error == nil { goodCount += 1 } else { badCount += 1 }
    }
    #expect(goodCount > 100 && badCount > 100)
  }

  @Test(
    "lines that may be short are all read, however much is read at once", arguments: [300, 20_000])
  func shortLines(lineByteCount: Int) throws {
    var random = RandomSource()
    let text = (0..<40_000).flatMap { number in
      Array(
        "{\"a\": \(number), \"b\": \"\(String(repeating: "x", count: random.int(0..<200)))\"}\n"
          .utf8)
    }
    for byteCount in [2_000, 65_536, 1 << 20] {
      let all = parts(text, .init(byteCount: byteCount), lineByteCount: lineByteCount)
      #expect(all.last?.end == text.count, "\(random.hint)")
      #expect(all.last?.failure == nil)
      #expect(all.dropLast().allSatisfy { $0.end - $0.start.offset < byteCount + 300 })
    }
  }

  @Test("a line that is too long ends the last part, which its reader refuses")
  func longLine() throws {
    for bomCount in [0, 1] {
      for (length, isRefused) in [(100, false), (101, true), (90_000, true)] {
        let text =
          (bomCount == 1 ? [0xEF, 0xBB, 0xBF] : [])
          + Array("{\"a\":\"\(String(repeating: "x", count: length - 8))\"}\n{\"a\":1}\n".utf8)
        for piece in [1, 100, 103, 104, 105, 65_536] {
          var reader = JSONReader(
            ByteSource(bytes: [], name: "t"), shape: .lines, limits: limits(lineByteCount: 100))
          var count = 0
          var failure: ImportError?
          do throws(ImportError) {
            let all = parts(
              text, .init(byteCount: .max), pieces: [piece], lineByteCount: 100)
            for part in all {
              reader.begin(part)
              while try reader.next() { count += 1 }
            }
          } catch {
            failure = error
          }
          #expect(failure?.kind == (isRefused ? .limit(.lineByteCount) : nil), "\(length) \(piece)")
          #expect(count == (isRefused ? 0 : 2), "\(length) \(piece)")
        }
      }
    }
  }

  private func limits(lineByteCount: Int) -> JSONLimits {
    var limits = JSONLimits()
    limits.lineByteCount = lineByteCount
    return limits
  }

  @Test("a reader leaves what it has not read yet, with its place")
  func left() throws {
    let text = Array((1...40).map { #"{"a": \#($0)}"# }.joined(separator: "\n").utf8)
    for count in 1...40 {
      // The first one shows that there are lines.
      var reader = JSONReader(ByteSource(bytes: text, name: "t"))
      let isLeft = leaves(&reader)
      #expect(!isLeft)
      var numbers: [JSONValue] = []
      for _ in 0..<count {
        let isThere = try reader.next()
        #expect(isThere)
        numbers.append(reader.document().members[0].value)
      }
      guard var parts = reader.leaveParts(.init(byteCount: 50)) else {
        Issue.record("nothing is left behind document \(count)")
        return
      }
      let isAtEnd = try !reader.next()
      #expect(isAtEnd)
      while let part = parts.next(lineByteCount: 100) {
        reader.begin(part)
        while try reader.next() {
          numbers.append(reader.document().members[0].value)
          #expect(reader.position == TextPosition(line: numbers.count, column: 1))
        }
      }
      #expect(numbers == (1...40).map { .integer($0) })
    }
  }

  private func leaves(_ reader: inout JSONReader) -> Bool {
    let parts = reader.leaveParts(.init(byteCount: 1))
    return parts != nil
  }

  @Test("documents that have no lines of their own are not left")
  func notLines() throws {
    for text in [#"[{"a": 1}, {"a": 2}]"#, #"{"a": {"b": 1}, "c": {"b": 2}}"#] {
      var reader = JSONReader(ByteSource(bytes: Array(text.utf8), name: "t"))
      for _ in 0..<2 {
        let isThere = try reader.next()
        #expect(isThere)
        let isLeft = leaves(&reader)
        #expect(!isLeft)
      }
    }
  }

  @Test("what cannot be read is told where the reader of its part asks for it")
  func unreadable() throws {
    let text = Array("{\"a\": 1}\n{\"a\": 2}\n{\"a\":".utf8)
    let source = ByteSource(decompressing: FailingDecompressor(text), name: "t")
    var parts = LineParts(
      source, behind: [], at: TextMark(), .init(byteCount: 1))
    var reader = JSONReader(ByteSource(bytes: [], name: "t"), shape: .lines)
    var count = 0
    var failure: ImportError?
    do throws(ImportError) {
      while let part = parts.next(lineByteCount: 100) {
        reader.begin(part)
        while try reader.next() { count += 1 }
      }
    } catch {
      failure = error
    }
    #expect(count == 2)
    #expect(failure?.kind == .io(code: 5))
    #expect(failure?.position == TextPosition(line: 3, column: 6))
    let isAtEnd = parts.next(lineByteCount: 100) == nil
    #expect(isAtEnd)
  }

  /// Gives bytes, and then an error.
  private final class FailingDecompressor: Decompressor {
    private let bytes: [UInt8]
    nonisolated(unsafe) private var isRead = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init(_ bytes: consuming ByteSource, mostByteCount: Int) { self.bytes = [] }

    static func recognizes(_ head: [UInt8]) -> Bool { false }

    func read(into room: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
      guard !isRead else {
        throw ImportError(
          .io(code: 5), file: "t", position: nil, found: "nothing", expected: "more")
      }
      isRead = true
      room.copyBytes(from: bytes)
      return bytes.count
    }
  }
}
