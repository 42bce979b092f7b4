import LarderCompression
import LarderImport
import LarderTestKit
import Testing

@Suite("Decompressors")
struct DecompressorTests {
  static let formats = ["gzip", "zstd"]

  private func compressed(_ bytes: [UInt8], _ format: String) -> [UInt8] {
    format == "gzip" ? Compressing.gzip(bytes) : Compressing.zstd(bytes)
  }

  /// What comes out, read in pieces of these sizes in turns.
  private func read(
    _ bytes: [UInt8], _ format: String, pieceByteCounts: [Int] = [64 << 10],
    mostByteCount: Int = 0
  ) throws(ImportError) -> [UInt8] {
    let type: any Decompressor.Type =
      format == "gzip" ? GzipDecompressor.self : ZstdDecompressor.self
    let source = ByteSource(bytes: bytes, name: "f", pieceByteCounts: pieceByteCounts)
    var text = ByteSource(
      decompressing: type.init(source, mostByteCount: mostByteCount), name: "f")
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1_000)
    while case let count = try text.read(into: &buffer, at: 0), count > 0 {
      result += buffer[..<count]
    }
    return result
  }

  private func content(_ random: inout RandomSource) -> [UInt8] {
    let words = ["a", "lorem ipsum ", "{\"id\": 7}\n", "ø"]
    var bytes: [UInt8] = []
    for _ in 0..<random.int(0..<200) {
      bytes += words[random.int(0..<words.count)].utf8
      if random.int(0..<4) == 0 { bytes.append(UInt8.random(in: 0...255, using: &random)) }
    }
    return bytes
  }

  @Test("what was compressed comes out, in however many parts it is", arguments: formats)
  func parts(_ format: String) throws {
    var random = RandomSource()
    for _ in 0..<repetitions(30) {
      var whole: [UInt8] = []
      var file: [UInt8] = []
      for _ in 0..<random.int(1..<4) {
        let part = content(&random)
        whole += part
        file += compressed(part, format)
        if format == "zstd" { file += Compressing.skippable }
      }
      if format == "gzip" { file += [UInt8](repeating: 0, count: random.int(0..<3)) }

      #expect(try read(file, format) == whole, "\(random.hint)")
      #expect(try read(file, format, pieceByteCounts: [1, 2, 7]) == whole, "\(random.hint)")
    }
  }

  @Test("a file that is cut off anywhere is refused with its length", arguments: formats)
  func cutOff(_ format: String) throws {
    let file = compressed(Array(String(repeating: "lorem ipsum ", count: 400).utf8), format)

    for count in 1..<file.count {
      let error = #expect(throws: ImportError.self) { try read(Array(file[..<count]), format) }
      #expect(error?.kind == .compression(offset: count))
      #expect(error?.expected == "the whole file; it is cut off")
    }
  }

  @Test("a file with a damaged byte is refused, or says the same", arguments: formats)
  func damaged(_ format: String) throws {
    var random = RandomSource()
    for _ in 0..<repetitions(3) {
      let text = content(&random) + Array("some more text, and some more text".utf8)
      let file = compressed(text, format)
      var refusalCount = 0
      for index in file.indices {
        var other = file
        other[index] ^= UInt8.random(in: 1...255, using: &random)
        do throws(ImportError) {
          let result = try read(other, format)
          #expect(result == text, "byte \(index), \(random.hint)")
        } catch {
          refusalCount += 1
          guard case .compression(let offset) = error.kind else {
            Issue.record("byte \(index), \(random.hint): \(error)")
            continue
          }
          #expect(offset <= file.count && error.description.contains("at byte \(offset) of"))
        }
      }
      // A header of gzip has bytes that mean nothing to us: time, system, hints.
      #expect(refusalCount >= file.count - 10)
    }
  }

  @Test("something else behind the last part is refused where it begins", arguments: formats)
  func rubbish(_ format: String) throws {
    let file = compressed(Array("text".utf8), format)

    let error = #expect(throws: ImportError.self) {
      try read(file + Array("rubbish".utf8), format)
    }

    #expect(error?.kind == .compression(offset: file.count))
  }

  @Test("a window that takes much memory is refused unless so much is allowed")
  func window() throws {
    let text = Array("text".utf8)
    let file = Compressing.zstd(text, windowPower: 28)

    let error = #expect(throws: ImportError.self) { try read(file, "zstd") }

    #expect(error?.kind == .compression(offset: 0))
    #expect(error?.expected.contains("`--max-bytes`") == true)
    #expect(try read(file, "zstd", mostByteCount: 1 << 28) == text)
    #expect(try read(Compressing.zstd(text, windowPower: 27), "zstd") == text)
  }

  @Test("text is not taken for something compressed")
  func recognition() {
    for type in systemDecompressors {
      for head in ["", "{", "{\"id", "[1, ", "id,n", "P*Mx"] {
        let isRecognized = type.recognizes(Array(head.utf8))
        #expect(!isRecognized, "\(head)")
      }
    }
  }
}
