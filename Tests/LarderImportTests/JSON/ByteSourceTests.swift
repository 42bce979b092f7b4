import Foundation
import LarderImport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("A byte source")
struct ByteSourceTests {
  private func withFile(_ content: String, _ body: (String) throws -> Void) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID())")
    try Data(content.utf8).write(to: file)
    // A temporary file that stays behind does no harm.
    defer { try? FileManager.default.removeItem(at: file) }
    try body(file.path)
  }

  @Test("reads a file of several chunks and tells how far it is")
  func file() throws {
    let content = "[" + (0..<20_000).map { "{\"n\":\($0)}" }.joined(separator: ",\n") + "]"
    try withFile(content) { path in
      var documents = JSONDocuments(try ByteSource(path: path))
      var numbers: [JSONValue] = []

      #expect(documents.totalByteCount == content.utf8.count)
      #expect(documents.consumedByteCount == 0)
      while let document = try documents.next() { numbers.append(document.members[0].value) }

      #expect(documents.consumedByteCount == content.utf8.count)
      #expect(numbers == (0..<20_000).map { .integer($0) })
    }
  }

  @Test("opens a file so that no child inherits it, and closes it when it is let go")
  func descriptors() throws {
    try withFile("[]") { path in
      let before = try openDescriptors(of: path)
      try {
        let documents = JSONDocuments(try ByteSource(path: path))
        let during = try openDescriptors(of: path)
        #expect(during.count == before.count + 1)
        #expect(during.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
        _ = documents.totalByteCount
      }()

      #expect(try openDescriptors(of: path).count == before.count)
    }
  }

  private func openDescriptors(of path: String) throws -> [Int32] {
    // The other tests have hundreds of files open.
    (0..<min(getdtablesize(), 1 << 16)).filter { descriptor in
      var file = stat()
      var open = stat()
      return stat(path, &file) == 0 && fstat(descriptor, &open) == 0
        && file.st_ino == open.st_ino && file.st_dev == open.st_dev
    }
  }

  @Test("reads a pipe that delivers piece by piece, and leaves it open")
  func pieces() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    let writer = Thread {
      for piece in ["{\"a\"", ":\"Bj\u{F8}", "rn\"}\n{", "}"] {
        let bytes = Array(piece.utf8)
        _ = write(writing, bytes, bytes.count)
        usleep(2_000)
      }
      close(writing)
    }
    writer.start()
    defer { close(reading) }

    var documents = JSONDocuments(ByteSource(descriptor: reading))
    let first = try documents.next()
    let second = try documents.next()
    let third = try documents.next()

    #expect(first?.members == [JSONMember(name: "a", value: .string("Bjørn"))])
    #expect(second?.members == [])
    #expect(third == nil)
    #expect(documents.totalByteCount == nil)
    #expect(documents.file == "standard input")
    #expect(fcntl(reading, F_GETFD) >= 0)
  }

  @Test(
    "what cannot be opened is told with the system's code and no place",
    arguments: [
      ("/nowhere/at/all.json", ENOENT), ("/tmp", EISDIR), ("/tmp/a\u{0}b", EINVAL),
    ])
  func unopened(_ path: String, _ code: Int32) {
    #expect {
      _ = try JSONValue(readingFrom: ByteSource(path: path))
    } throws: { error in
      let error = error as? ImportError
      return error?.kind == .io(code: code) && error?.position == nil && error?.file == path
    }
  }

  @Test("a read that fails is told with the system's code and how far it came")
  func failedRead() throws {
    let folder = open("/tmp", O_RDONLY | O_CLOEXEC)
    defer { close(folder) }
    var reader = JSONReader(ByteSource(descriptor: folder, name: "folder"))

    let error = #expect(throws: ImportError.self) { _ = try reader.next() }

    #expect(error?.kind == .io(code: EISDIR))
    #expect(error?.position == .start)
  }
}
