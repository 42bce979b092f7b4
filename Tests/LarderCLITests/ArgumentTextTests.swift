import Foundation
import Testing

@Suite("Words and variables that are not UTF-8")
struct ArgumentTextTests {
  @Test("a path that is not UTF-8 is wrong usage, and no other file is made, read or replaced")
  func paths() throws {
    let larder = try LarderProgram()
    let file = try larder.file("a.ndjson", #"{"id": 1}"#)
    _ = try larder.runOnStore("import", file, "--into", "c", "--key", "id")
    // What a path becomes where each wrong byte is replaced.
    let other = try larder.file("out\u{FFFD}.json", "kept")
    let folder = larder.folder.path(percentEncoded: false)

    let errors = try larder.errors(
      ofScript: #"""
        cd "$(dirname "$1")"
        "$0" export c --store "$1" --output $'out\xff.json'; echo "$?" >&2
        "$0" import a.ndjson --into c --key id --store $'st\xff'; echo "$?" >&2
        LARDER_STORE=$'st\xfe' "$0" count c; echo "$?" >&2
        """#)

    let lines = errors.split(separator: "\n")
    #expect(lines.filter { $0 == "2" }.count == 3)
    #expect(errors.contains("argument 6 is not UTF-8: `out"))
    #expect(errors.contains("argument 8 is not UTF-8: `st"))
    #expect(errors.contains("LARDER_STORE is not UTF-8: `st"))
    #expect(try String(contentsOfFile: other, encoding: .utf8) == "kept")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 3)
  }
}
