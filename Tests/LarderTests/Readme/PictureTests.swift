import Foundation
import LarderTesting
import Testing

@testable import Larder

@Suite struct PictureTests {
  private static let sources = URL(filePath: #filePath)
    .appending(path: "../../../../Sources").standardizedFileURL

  private static let pictures = [
    "Larder/Documentation.docc/Resources/record-bytes",
    "Larder/Documentation.docc/Resources/save-walk",
    "LarderSync/Documentation.docc/Resources/single-source",
  ]

  private static func text(_ name: String) throws -> String {
    try String(contentsOf: sources.appending(path: "\(name).svg"), encoding: .utf8)
  }

  @Test("a picture for dark pages differs in its colours alone", arguments: pictures)
  func dark(_ name: String) throws {
    let style = /<style>.*?<\/style>/.dotMatchesNewlines()

    let (light, dark) = (try Self.text(name), try Self.text("\(name)~dark"))

    #expect(light != dark)
    #expect(light.replacing(style, with: "") == dark.replacing(style, with: ""))
  }

  @Test("the picture of a record shows the bytes that are stored")
  func bytes() throws {
    let shown = try Self.text("Larder/Documentation.docc/Resources/record-bytes")
      .matches(of: /byte" [^>]*>([0-9A-F]{2})</).map { UInt8($0.output.1, radix: 16) }

    try withTemporaryStore { store in
      try store.repository(of: Book.self).save(Book(id: 1, title: "Pan", genres: ["novel"]))

      let stored = try store.recordBytes(of: 1, in: "Book")
      #expect(stored == shown)
    }
  }

  @Test("the source files that the picture of a save and the article name are there")
  func files() throws {
    let article = try String(
      contentsOf: Self.sources.appending(
        path: "Larder/Documentation.docc/ReadingTheSource.md"), encoding: .utf8)
    let named = try (Self.text("Larder/Documentation.docc/Resources/save-walk") + article)
      .matches(of: /([A-Za-z+]+\.swift)/).map { String($0.output.1) }
    let files = FileManager.default.enumerator(
      at: Self.sources, includingPropertiesForKeys: nil)?
      .compactMap { ($0 as? URL)?.lastPathComponent }

    #expect(named.count > 20)
    #expect(Set(named).subtracting(files ?? []) == [])
  }
}
