import Foundation
import LarderImport
import LarderTestKit
import Testing

@Suite("Hostile JSON")
struct JSONHostileTests {
  /// Of a processor: far more than any of these takes, far less than quadratic work would.
  static let seconds = 20.0

  @Test(
    "a megabyte of opening brackets is refused at the depth limit",
    arguments: [
      ("[", 129), ("{\"a\":", 641),
    ])
  func brackets(_ piece: String, _ column: Int) {
    let error = JSONProbe.refusal(String(repeating: piece, count: 1 << 20))

    #expect(error?.kind == .limit(.depth))
    #expect(error?.column == column)
  }

  @Test("nine megabytes of empty arrays are read in linear time")
  func emptyArrays() throws {
    let text = "[" + String(repeating: "[],", count: 3_000_000) + "[]]"

    let seconds = try processorSeconds {
      guard case .array(let elements) = try JSONProbe.value(text) else { return }
      #expect(elements.count == 3_000_001)
    }

    #expect(seconds < Self.seconds)
  }

  @Test("nine megabytes of members are refused at the limit, and read when it allows them")
  func members() throws {
    let text = "{" + (0..<750_000).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"
    var limits = JSONLimits()
    limits.memberCount = 65_536
    #expect(JSONProbe.refusal(text, limits: limits)?.kind == .limit(.memberCount))
    limits.memberCount = .max

    let seconds = try processorSeconds {
      guard case .object(let members) = try JSONProbe.value(text, limits: limits) else { return }
      #expect(members.count == 750_000)
    }

    #expect(seconds < Self.seconds)
  }

  @Test("names that differ in the last byte of many cost no more than their length")
  func longNames() throws {
    let stem = String(repeating: "é", count: 2_000)
    let text = "{" + (0..<2_000).map { "\"\(stem)\($0)\":0" }.joined(separator: ",") + "}"

    let seconds = try processorSeconds { _ = try JSONProbe.value(text) }

    #expect(seconds < Self.seconds)
  }

  @Test("a string of nothing but escapes is read in linear time")
  func escapes() throws {
    let text = "\"" + String(repeating: "\\ud83d\\ude00", count: 700_000) + "\""

    let seconds = try processorSeconds { _ = try JSONProbe.value(text) }

    #expect(seconds < Self.seconds)
  }

  #if os(Linux)
    @Test("a file of many megabytes is streamed in flat memory, whatever its shape")
    func flatMemory() async {
      await #expect(processExitsWith: .success) {
        for shape in [JSONShape.lines, .array, .keyed] {
          let growth = try JSONMemory.growth(
            streaming: shape, byteCount: JSONMemory.streamedByteCount)
          print("flat memory \(shape): grew by \(growth / 1_024) KiB")
          // The keys of a keyed file are remembered, each from some 180 bytes of the file.
          #expect(growth < (shape == .keyed ? JSONMemory.streamedByteCount / 3 : 2 << 20))
        }
      }
    }
  #endif
}

#if os(Linux)
  /// Measures the memory that streaming takes; alone in its process, or it measures others.
  enum JSONMemory {
    #if DEBUG
      static let streamedByteCount = 10 << 20
    #else
      static let streamedByteCount = 50 << 20
    #endif

    static func growth(streaming shape: JSONShape, byteCount: Int) throws -> Int {
      let file = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID())")
      // A temporary file that stays behind does no harm.
      defer { try? FileManager.default.removeItem(at: file) }
      try write(shape, byteCount, to: file)
      var documents = JSONDocuments(try ByteSource(path: file.path), shape: shape)
      var count = 0
      var before = 0
      var most = 0

      while try documents.next() != nil {
        count += 1
        if count == 1_000 { before = try anonymousByteCount() }
        if count.isMultiple(of: 10_000) { most = max(most, try anonymousByteCount()) }
      }

      #expect(count > byteCount / 250)
      return most - before
    }

    private static func write(_ shape: JSONShape, _ byteCount: Int, to file: URL) throws {
      let (open, separator, close) =
        switch shape {
        case .array: ("[", ",\n", "]")
        case .keyed: ("{", ",\n", "}")
        default: ("", "\n", "\n")
        }
      try Data(open.utf8).write(to: file)
      let handle = try FileHandle(forWritingTo: file)
      defer { try? handle.close() }
      try handle.seekToEnd()
      var written = 0
      var index = 0
      while written < byteCount {
        var block = ""
        for _ in 0..<1_000 {
          if index > 0 { block += separator }
          if shape == .keyed { block += "\"contact-\(index)\":" }
          block += document(index)
          index += 1
        }
        try handle.write(contentsOf: Data(block.utf8))
        written += block.utf8.count
      }
      try handle.write(contentsOf: Data(close.utf8))
    }

    private static func document(_ index: Int) -> String {
      #"{"id":"contact-\#(index)","name":"Bj\u00f8rn Ås number \#(index)","tags":["vip","friend"],"#
        + #""geo":{"lat":59.91,"lon":10.75},"order":\#(index),"note":"a line\nand another, to be long"}"#
    }

    private static func anonymousByteCount() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
      let fields = line.split { $0 == " " || $0 == "\t" }
      return try #require(Int(fields[1])) * 1_024
    }
  }
#endif
