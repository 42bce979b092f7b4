import Foundation
import Larder
import LarderCompression
import LarderImport
import LarderTesting
import Testing

@Suite("larder import of compressed files", .timeLimit(.minutes(20)))
struct CompressedImportTests {
  let larder: LarderProgram

  init() throws { larder = try LarderProgram() }

  private func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let url = larder.folder.appending(path: name)
    try Data(bytes).write(to: url)
    return url.path(percentEncoded: false)
  }

  private static let lines = Array("{\"id\": 1, \"n\": 1.5}\n{\"id\": 2, \"n\": null}\n".utf8)
  private static let table = Array("id,n\n1,1.5\n2,\n".utf8)

  @Test("files and pipes are known by their bytes, and the format by the name before .gz or .zst")
  func content() throws {
    let files = [
      try file("a.ndjson.gz", Compressing.gzip(Self.lines)),
      try file("a.zst", Compressing.zstd(Self.lines)),
      try file("misnamed.json", Compressing.zstd(Self.lines)),
      try file("t.csv.gz", Compressing.gzip(Self.table)),
      try file("t.CSV.ZST", Compressing.zstd(Self.table)),
      try file("plain.csv.gz", Self.table),
    ]
    for (number, file) in files.enumerated() {
      let outcome = try larder.runOnStore("import", file, "--into", "c\(number)", "--key", "id")
      #expect(outcome.status == 0, "\(file): \(outcome.errors)")
      #expect(outcome.output.contains("2 inserted"))
      #expect(
        try larder.runOnStore("export", "c\(number)").output
          == String(decoding: Self.lines, as: UTF8.self))
    }
    for file in files[..<2] {
      let process = try larder.start(
        ["import", "-", "--into", "piped", "--key", "id", "--store", larder.store])
      try process.input.write(contentsOf: Data(contentsOf: URL(filePath: file)))
      try process.input.close()
      let outcome = try process.wait()
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    #expect(try larder.runOnStore("count", "piped").output == "2\n")
  }

  @Test("a file that is cut off imports nothing, and says at which byte it ends")
  func cutOff() throws {
    let whole = Compressing.gzip(Self.lines + Self.lines.map { $0 == 0x32 ? 0x33 : $0 })
    let path = try file("a.ndjson.gz", Array(whole.dropLast(5)))

    let outcome = try larder.runOnStore("import", path, "--into", "c", "--key", "id")

    #expect(outcome.status == 1 && outcome.output == "")
    #expect(
      outcome.errors.contains("inside of a gzip member at byte \(whole.count - 5) of"),
      "\(outcome.errors)")
    #expect(try larder.runOnStore("count", "c").status == 1)
  }

  #if os(Linux)
    @Test(
      "a bomb is refused by the limit on a document, and takes no memory", arguments: ["gz", "zst"])
    func bomb(_ ending: String) throws {
      let beginning = Array("{\"id\": 1, \"text\": \"".utf8)
      let filling = [UInt8](repeating: 0x78, count: 16 << 20)
      let compress: ([UInt8]) -> [UInt8] = {
        ending == "gz" ? Compressing.gzip($0) : Compressing.zstd($0)
      }
      let part = compress(filling)
      var bytes = compress(beginning)
      for _ in 0..<64 { bytes += part }
      let path = try file("bomb.json.\(ending)", bytes)
      let process = try larder.start(
        [
          "import", path, "--into", "c", "--key", "id", "--max-bytes", "1M", "--store",
          larder.store,
        ])
      try process.input.close()
      var peak = 0
      while process.process.isRunning {
        peak = max(peak, process.anonymousByteCount() ?? 0)
        usleep(1_000)
      }

      let outcome = try process.wait()

      #expect(outcome.status == 1 && outcome.errors.contains("1048576 bytes"), "\(outcome.errors)")
      #expect(peak < 60 << 20, "\(peak >> 20) MB")
    }
  #endif

  @Test("an interruption stops an import of a compressed file", arguments: ["gz", "zst"])
  func interruption(_ ending: String) throws {
    var text = ""
    for number in 0..<100_000 { text += "{\"id\": \(number), \"name\": \"Number \(number)\"}\n" }
    let bytes = Array(text.utf8)

    let outcome = try larder.interruptedImport(
      of: ending == "gz" ? Compressing.gzip(bytes) : Compressing.zstd(bytes),
      from: "long.ndjson.\(ending)")

    #expect(outcome.status == 1 && outcome.output == "")
    // It may have said before that it waits for another process.
    #expect(outcome.errors.contains("larder: the import was stopped; "), "\(outcome.errors)")
  }

  @Test("progress goes by the bytes of the compressed file, up to the whole")
  func progress() throws {
    let store = try Store.temporary()
    var text = ""
    // Names that cannot be compressed, so that the file is more than one chunk.
    for number in 0..<10_000 {
      let name = [1, 2, 3].map { UInt64(number * 3 + $0) &* 0x9E37_79B9_7F4A_7C15 }
      text += "{\"id\": \(number), \"name\": \"\(name)\"}\n"
    }
    let bytes = Compressing.gzip(Array(text.utf8))
    var options = ImportOptions()
    options.decompressors = systemDecompressors
    var fractions: [Double] = []

    let report = try store.importDocuments(
      from: .bytes(bytes, name: "a.ndjson.gz"), into: "c", key: "id", options: options
    ) { news in
      if let fraction = news.fraction { fractions.append(fraction) }
    }

    #expect(report.saved.inserted == 10_000 && report.byteCount == bytes.count)
    #expect(fractions == fractions.sorted() && fractions.last == 1)
    #expect(fractions.contains { $0 > 0 && $0 < 0.5 } && fractions.contains { $0 > 0.5 && $0 < 1 })
  }

  @Test("the library by itself says that a file is compressed")
  func library() throws {
    let store = try Store.temporary()
    for bytes in [Compressing.gzip(Self.lines), Compressing.zstd(Self.lines)] {
      let error = #expect(throws: ImportError.self) {
        try store.importDocuments(from: .bytes(bytes, name: "a"), into: "c", key: "id")
      }
      #expect(error?.kind == .encoding && error?.expected.contains("decompress") == true)
    }
  }
}
