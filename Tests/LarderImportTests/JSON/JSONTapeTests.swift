import Larder
import LarderTestKit
import Testing

@testable import LarderImport

@Suite("The tape of a JSON document")
struct JSONTapeTests {
  private func reader(
    _ text: some StringProtocol, _ shape: JSONShape = .lines
  ) -> JSONReader {
    JSONReader(ByteSource(bytes: Array(text.utf8), name: "test.json"), shape: shape)
  }

  private func entries(_ reader: borrowing JSONReader) -> [JSONTape.Entry] {
    (0..<reader.scanner.tape.entries.count).map { reader.scanner.tape.entries[$0] }
  }

  @Test("has names and values in the order of the text, and where they begin")
  func order() throws {
    var reader = reader(#" {"a":[1,"x\n"],"b":{}}"#)

    #expect(try reader.next())

    let entries = entries(reader)
    #expect(
      entries.map(\.kind) == [.object, .name, .array, .integer, .resolvedString, .name, .object])
    #expect(entries.map(\.offset) == [0, 1, 5, 6, 8, 15, 19])
    #expect(entries[0].count == 2 && entries[0].span == 7)
    #expect(entries[2].count == 2 && entries[2].span == 3)
    #expect(entries[3].integer == 1)
    #expect(reader.string(at: 1) == "a" && reader.string(at: 4) == "x\n")
    #expect(try !reader.next())
  }

  @Test("a name keeps its number, in another place, another order and another spelling")
  func numbers() throws {
    var reader = reader(
      """
      {"id":1,"name":{"id":2}}
      {"name":1,"id":2}
      {"\\u0069d":1,"other":2}
      """)
    var numbers: [[Int]] = []

    while try reader.next() {
      numbers.append(entries(reader).filter { $0.name > 0 }.map(\.name))
    }

    #expect(numbers == [[1, 2, 1], [2, 1], [1, 3]])
    #expect(reader.scanner.names.nameCount == 3)
    #expect(reader.scanner.names.withName(3) { String(decoding: $0, as: UTF8.self) } == "other")
  }

  @Test("documents that came before change nothing of what is read or refused")
  func memory() {
    var random = RandomSource()
    let pool = [
      "id", "name", "a", "b", "", "é", "e\u{301}", "\\u0061", "a\\\"b", "a long name of a member",
      "a long name of a membes", "12345678", "1234567",
    ]
    var refusedCount = 0
    for _ in 0..<300 {
      let lines = (0..<40).map { _ in object(pool, 0, &random) }
      var together = reader(lines.joined(separator: "\n"))
      for (index, line) in lines.enumerated() {
        var alone = reader(line)
        let (ours, theirs) = (outcome(&together), outcome(&alone))

        #expect(ours.0 == theirs.0 && ours.1?.found == theirs.1?.found, "\(line) \(random.hint)")
        #expect(ours.1?.column == theirs.1?.column, "\(line) \(random.hint)")
        guard ours.1 == nil else {
          #expect(ours.1?.line == index + 1)
          refusedCount += 1
          break
        }
      }
    }
    #expect(refusedCount > 10)
  }

  private func outcome(_ reader: inout JSONReader) -> (JSONValue?, ImportError?) {
    do throws(ImportError) {
      return (try reader.next() ? reader.value(at: 0) : nil, nil)
    } catch {
      return (nil, error)
    }
  }

  /// An object of few names or of more than nodes are made for; now and then one stands twice.
  private func object(_ pool: [String], _ depth: Int, _ random: inout RandomSource) -> String {
    let isWide = depth == 0 && random.once(in: 8)
    var names = isWide ? (0..<30).map { "w\($0 * 7 % 30 + random.int(0..<2) * 40)" } : []
    for _ in 0..<random.int(0..<5) { names.append(random.pick(pool)) }
    if !random.once(in: 60) {
      var seen: Set<[UInt8]> = []
      names = names.filter { seen.insert(Array(($0 == "\\u0061" ? "a" : $0).utf8)).inserted }
    }
    let members = names.map { name in
      let value: String
      switch random.int(0..<(depth > 2 ? 2 : 4)) {
      case 0: value = "1"
      case 1: value = "\"x\""
      case 2: value = object(pool, depth + 1, &random)
      default: value = "[\(object(pool, depth + 1, &random)), \(object(pool, depth + 1, &random))]"
      }
      return "\"\(name)\":\(value)"
    }
    return "{" + members.joined(separator: ",") + "}"
  }

  @Test("however many names a file has, what is kept of them has an end")
  func tablesAreBounded() throws {
    for isShuffled in [false, true] {
      var random = RandomSource()
      let names = (0..<20).map { "n\($0)" }
      let lines = (0..<12_000).map { line in
        let names = isShuffled ? names.shuffled(using: &random) : ["k\(line)", "l\(line)"]
        return "{" + names.map { "\"\($0)\":{\"x\($0)\":1}" }.joined(separator: ",") + "}"
      }
      var reader = reader(lines.joined(separator: "\n"))
      var count = 0

      while try reader.next() { count += 1 }

      #expect(count == lines.count)
      #expect(reader.scanner.names.nodes.count <= NameTable.mostNodes)
      #expect(reader.scanner.names.nameCount <= NameTable.mostNames)
      #expect(reader.scanner.names.bytes.count <= NameTable.mostBytes)
    }
  }

  @Test("tables that are worn out begin anew, and names have other numbers then")
  func renewal() throws {
    let names = (0..<20).map { "n\($0)" }
    var random = RandomSource()
    let lines = (0..<20_000).map { _ in
      "{" + names.shuffled(using: &random).map { "\"\($0)\":1" }.joined(separator: ",") + "}"
    }
    var reader = reader(lines.joined(separator: "\n"))

    while try reader.next() {}

    #expect(reader.scanner.names.generation > 0)
  }
}
