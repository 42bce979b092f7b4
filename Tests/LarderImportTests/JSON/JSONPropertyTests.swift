import Foundation
import LarderTestKit
import Testing

@testable import LarderImport

@Suite("JSON by random texts")
struct JSONPropertyTests {
  #if DEBUG
    static let texts = 150
    static let mutants = 6_000
  #else
    static let texts = 2_000
    static let mutants = 200_000
  #endif

  @Test(
    "it does not matter where the pieces of a source end",
    arguments: [
      JSONWriter.Layout.array, .keyed, .lines,
    ])
  func pieces(_ layout: JSONWriter.Layout) {
    var writer = JSONWriter(random: RandomSource())
    for _ in 0..<Self.texts {
      var bytes = Array(writer.file(layout, upTo: 6).utf8)
      if writer.random.chance(50) { mutate(&bytes, &writer.random) }
      let limits = smallLimits(&writer.random)
      let shape = writer.random.pick(JSONShape.allCases)
      let sizes = (0..<7).map { _ in 1 + writer.random.below(7) }

      let whole = JSONProbe.outcome(bytes, shape, limits: limits)
      let inPieces = JSONProbe.outcome(bytes, shape, pieces: sizes, limits: limits)
      let byBytes = JSONProbe.outcome(bytes, shape, pieces: [1], limits: limits)

      #expect(whole.exact == inPieces.exact, "\(shape) \(String(decoding: bytes, as: UTF8.self))")
      #expect(whole.exact == byBytes.exact, "\(shape) \(String(decoding: bytes, as: UTF8.self))")
    }
  }

  @Test("which limit a text exceeds does not depend on where its pieces end")
  func limitBehindScalar() {
    var limits = JSONLimits()
    limits.stringByteCount = 2
    for (text, lineByteCount) in [("{\"aß\":1}", 6), ("{\"a€\":1}", 7), ("{\"a😀\":1}", 6)] {
      limits.lineByteCount = lineByteCount
      let bytes = Array(text.utf8)

      let whole = JSONProbe.outcome(bytes, .lines, limits: limits)
      let byBytes = JSONProbe.outcome(bytes, .lines, pieces: [1], limits: limits)

      let isCut = text.contains("😀")
      #expect(whole.error?.kind == .limit(isCut ? .lineByteCount : .stringByteCount))
      #expect(whole.exact == byBytes.exact)
    }
  }

  @Test("strings and numbers that cross the end of a chunk are whole")
  func chunkEnds() throws {
    for padding in (65_536 - 40)..<(65_536 + 3) {
      let text = #"{"name é😀\u00e9\ud83d\ude00":"é漢😀\n","n":-12345.678e-5,"t":true}"#
      let bytes = [UInt8](repeating: 0x20, count: padding) + Array(text.utf8)

      let value = try JSONProbe.value(bytes)

      #expect(
        value
          == .object([
            JSONMember(name: "name é😀é😀", value: .string("é漢😀\n")),
            JSONMember(name: "n", value: .double(-12345.678e-5)),
            JSONMember(name: "t", value: .bool(true)),
          ]))
    }
  }

  @Test("every valid text is accepted and means what another parser says")
  func agreement() throws {
    var writer = JSONWriter(random: RandomSource())
    for _ in 0..<Self.texts * 5 {
      let text = writer.space(.file) + writer.value(depth: 0) + writer.space(.file)

      let ours = try JSONProbe.value(text)
      let theirs = try JSONSerialization.jsonObject(
        with: Data(text.utf8), options: .fragmentsAllowed)

      #expect(agree(ours, theirs), "\(text)")
    }
  }

  @Test("every number is rounded as the C library rounds it, or given as written")
  func rounding() throws {
    var writer = JSONWriter(random: RandomSource())
    for _ in 0..<Self.texts * 20 {
      let text =
        writer.number() + (writer.random.chance(20) ? "e\(writer.random.below(700) - 350)" : "")
      guard let value = try? JSONProbe.value(text) else { continue }

      let expected = strtod(text, nil)

      switch value {
      case .integer(let integer): #expect("\(integer)" == text)
      case .unsigned(let integer): #expect("\(integer)" == text)
      case .double(let double): #expect(double.bitPattern == expected.bitPattern, "\(text)")
      case .number(let written):
        #expect(written == text)
        // With more than 15 digits it is lent as it is written, for decimals, and may be a double.
        let read = Array(text.utf8).withUnsafeBufferPointer { NumberText.read($0) }
        if case .success(.double(let double)) = read {
          #expect(double.bitPattern == expected.bitPattern, "\(text)")
          #expect(double.keepsDigits(of: text), "\(text)")
          continue
        }
        let digits = text.prefix { $0 != "e" && $0 != "E" }.filter(\.isNumber)
        #expect(
          digits.count > 17 || !expected.isFinite || expected == 0 || text == "-0"
            || !expected.keepsDigits(of: text), "\(text)")
      default: Issue.record("\(text) is \(value)")
      }
    }
  }

  @Test("a damaged file neither traps nor hangs, and its error lies inside the file")
  func mutants() {
    var writer = JSONWriter(random: RandomSource())
    var accepted = 0
    for index in 0..<Self.mutants {
      var bytes = Array(writer.file(writer.random.pick(JSONWriter.Layout.allCases), upTo: 3).utf8)
      for _ in 0...writer.random.below(3) { mutate(&bytes, &writer.random) }
      let shape = JSONShape.allCases[index % JSONShape.allCases.count]

      let outcome = JSONProbe.outcome(bytes, shape, limits: smallLimits(&writer.random))

      guard let error = outcome.error else {
        accepted += 1
        continue
      }
      #expect(isInside(bytes, error.position), "\(error) \(bytes)")
    }
    #expect(accepted > Self.mutants / 50 && accepted < Self.mutants * 9 / 10)
  }

  @Test("a damaged text that is accepted is JSON to another parser too")
  func strictness() {
    var writer = JSONWriter(random: RandomSource())
    var accepted = 0
    for _ in 0..<Self.mutants / 4 {
      var bytes = Array(writer.value(depth: 2).utf8)
      mutate(&bytes, &writer.random)
      // Whether it is refused with good reason, the tests of refusals say.
      guard let ours = try? JSONProbe.value(bytes), !exceedsDouble(ours) else { continue }
      accepted += 1

      let theirs = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)

      #expect(
        theirs.map { agree(ours, $0) } == true, "\(String(decoding: bytes, as: UTF8.self))")
    }
    #expect(accepted > 100)
  }

  // MARK: Damage

  /// Limits that random texts reach now and then.
  private func smallLimits(_ random: inout RandomSource) -> JSONLimits {
    var limits = JSONLimits()
    guard random.chance(50) else { return limits }
    limits.depth = 1 + random.below(8)
    limits.stringByteCount = random.below(80)
    limits.memberCount = random.below(25)
    limits.numberByteCount = 1 + random.below(40)
    limits.lineByteCount = random.below(600)
    limits.documentByteCount = random.below(600)
    return limits
  }

  private func mutate(_ bytes: inout [UInt8], _ random: inout RandomSource) {
    guard !bytes.isEmpty else { return }
    let at = random.below(bytes.count)
    let marks = Array("{}[]\",:\\-+.eE0 9\n\r\tutn/'\u{0}".utf8) + [0x80, 0xC3, 0xE2, 0xF0, 0xFF]
    switch random.below(7) {
    case 0: bytes[at] ^= 1 << random.below(8)
    case 1: bytes[at] = random.pick(marks)
    case 2: bytes.insert(random.pick(marks), at: at)
    case 3: bytes.remove(at: at)
    case 4: bytes.removeLast(random.below(min(bytes.count, 20)))
    case 5:
      let piece = bytes[at..<min(bytes.count, at + 1 + random.below(12))]
      bytes.insert(contentsOf: piece, at: random.below(bytes.count))
    default: bytes.swapAt(at, random.below(bytes.count))
    }
  }

  private func isInside(_ bytes: [UInt8], _ position: TextPosition?) -> Bool {
    guard let position else { return false }
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    guard (1...lines.count).contains(position.line) else { return false }
    return (1...lines[position.line - 1].count + 1).contains(position.column)
  }

  // MARK: Agreement

  /// Whether the other parser's number is this one but for its rounding, which is not exact.
  private func isNear(_ ours: Double, _ theirs: Any) -> Bool {
    guard let number = (theirs as? NSNumber)?.doubleValue else { return false }
    return abs(number - ours) <= abs(ours) * 1e-14
  }

  /// Whether a number somewhere in the value is too large for a `Double`, and so for the other
  /// parser.
  private func exceedsDouble(_ value: JSONValue) -> Bool {
    switch value {
    case .number(let text): Double(text).map { !$0.isFinite } ?? true
    case .array(let elements): elements.contains(where: exceedsDouble)
    case .object(let members): members.contains { exceedsDouble($0.value) }
    default: false
    }
  }

  private func agree(_ ours: JSONValue, _ theirs: Any) -> Bool {
    switch ours {
    case .null: return theirs is NSNull
    case .bool(let value): return theirs as? Bool == value
    case .integer(let value): return (theirs as? NSNumber)?.int64Value == value
    case .unsigned(let value): return isNear(Double(value), theirs)
    case .double(let value): return isNear(value, theirs)
    case .number(let text): return Double(text).map { isNear($0, theirs) } ?? false
    case .string(let value):
      return (theirs as? String).map { Array($0.utf8) } == Array(value.utf8)
    case .array(let elements):
      guard let others = theirs as? [Any], others.count == elements.count else { return false }
      return zip(elements, others).allSatisfy(agree)
    case .object(let members):
      guard let others = theirs as? [String: Any] else { return false }
      // Names that differ only by normalisation are one to the other parser.
      let distinct = Set(members.map(\.name))
      guard distinct.count == others.count else { return false }
      return members.count != distinct.count
        || members.allSatisfy { member in
          others[member.name].map { agree(member.value, $0) } ?? false
        }
    }
  }
}
