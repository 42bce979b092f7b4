import Foundation
import Larder
import LarderImport
import LarderLMDB
import LarderTesting
import Testing

@Suite("Exporting")
struct ExportTests {
  private func withContacts(_ body: (Store, borrowing ScratchFolder) throws -> Void) throws {
    let scratch = try ScratchFolder()
    try withTemporaryStore { store in
      try store.importDocuments(from: Fixtures.source("contacts.json"), into: Contact.self)
      try body(store, scratch)
    }
  }

  private func text(_ url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

  @Test("documents come in the order of their keys, or in the query's, and as many as it says")
  func order() throws {
    try withContacts { store, scratch in
      let query = Contact.where { $0.city == "Oslo" && $0.id.hasPrefix("hard-") }
        .sorted(by: \.order, .reverse).limit(7)
      var options = ExportOptions()
      options.fields = [FieldPath(field: "id"), FieldPath(field: "order")]

      let all = try store.export(
        Contact.all, as: .csv, to: .file(scratch.file("all.csv")), options: options)
      let some = try store.export(
        query, as: .csv, to: .file(scratch.file("some.csv")), options: options)
      try store.export(
        collection: "Contact",
        DynamicQuery.where { $0.city == "Oslo" && $0.id.hasPrefix("hard-") }
          .sorted(by: "order", isReversed: true).limit(7),
        as: .csv, to: .file(scratch.file("dynamic.csv")), options: options)

      let contacts = store.repository(of: Contact.self)
      let ids = try text(scratch.file("all.csv")).split(separator: "\n").dropFirst()
      #expect(all.documentCount == 355 && ids.count == 355)
      #expect(try all.byteCount == text(scratch.file("all.csv")).utf8.count)
      #expect(some.documentCount == 7)
      let expected = try contacts.fetch(query).map { "\($0.id),\($0.order)" }
      #expect(
        try text(scratch.file("some.csv"))
          == (["id,order"] + expected).joined(separator: "\n") + "\n")
      #expect(try text(scratch.file("dynamic.csv")) == text(scratch.file("some.csv")))
    }
  }

  @Test("fields inside of embedded documents are columns of their own, or objects around them")
  func fields() throws {
    try withContacts { store, scratch in
      var options = ExportOptions()
      options.fields = try ["id", "geo.lon", "geo.lat"].map { try #require(FieldPath($0)) }
      let query = Contact.where { $0.id == "seller-00000001" || $0.id == "seller-00000000" }

      try store.export(query, as: .csv, to: .file(scratch.file("c.csv")), options: options)
      try store.export(query, as: .ndjson, to: .file(scratch.file("c.ndjson")), options: options)

      #expect(
        try text(scratch.file("c.csv"))
          == "id,geo.lon,geo.lat\nseller-00000000,,\nseller-00000001,25.38251,-29.41083\n")
      #expect(
        try text(scratch.file("c.ndjson")) == """
          {"id": "seller-00000000", "geo": null}
          {"id": "seller-00000001", "geo": {"lon": 25.38251, "lat": -29.41083}}

          """)
    }
  }

  @Test("JSON is valid, and what another reader makes of it is what it is")
  func json() throws {
    try withContacts { store, scratch in
      try store.export(Contact.all, as: .json, to: .file(scratch.file("c.json")))

      let objects = try #require(
        try JSONSerialization.jsonObject(with: Data(contentsOf: scratch.file("c.json")))
          as? [[String: Any]])
      let contacts = store.repository(of: Contact.self)
      #expect(objects.count == 355)
      for object in objects {
        let contact = try #require(try contacts.get(object["id"] as? String ?? ""))
        #expect(object["order"] as? Int == contact.order)
        #expect(object["tags"] as? [String] == contact.tags)
        #expect(object["note"] as? String == contact.note)
      }
    }
  }

  @Test("nothing is a valid file of every format, with a header where a type tells it")
  func nothing() throws {
    let scratch = try ScratchFolder()
    try withTemporaryStore { store in
      for format in ExportFormat.allCases {
        try store.export(Contact.all, as: format, to: .file(scratch.file(format.rawValue)))
      }

      #expect(try text(scratch.file("json")) == "[]\n")
      #expect(try text(scratch.file("ndjson")) == "")
      #expect(try text(scratch.file("csv")).hasPrefix("id,name,tel,"))
      let report = try store.importDocuments(
        from: .file(scratch.file("csv")), into: Contact.self, options: csv())
      #expect(report.documentCount == 0)
    }
  }

  private func csv() -> ImportOptions {
    var options = ImportOptions()
    options.format = .csv
    return options
  }

  // MARK: Files

  @Test("a file is replaced when it is whole: its permissions stay, and nothing is left beside it")
  func replaced() throws {
    try withContacts { store, scratch in
      let file = scratch.file("c.csv")
      let path = file.path(percentEncoded: false)
      try Data("old".utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
      let old = try FileHandle(forReadingFrom: file)

      try store.export(Contact.all, as: .csv, to: .file(file))

      #expect(try old.readToEnd() == Data("old".utf8))
      #expect(try text(file).hasPrefix("id,"))
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o640)
      #expect(try scratch.names == ["c.csv"])
    }
  }

  @Test("a link that leads nowhere stays a link, and what it names is made")
  func danglingLink() throws {
    try withContacts { store, scratch in
      let manager = FileManager.default
      try manager.createDirectory(at: scratch.file("real"), withIntermediateDirectories: false)
      let links = ["link.csv": "next.csv", "next.csv": "real/c.csv"]
      for (link, target) in links {
        try manager.createSymbolicLink(
          atPath: scratch.file(link).path(percentEncoded: false), withDestinationPath: target)
      }

      try store.export(Contact.all, as: .csv, to: .file(scratch.file("link.csv")))

      for (link, target) in links {
        let path = scratch.file(link).path(percentEncoded: false)
        #expect(try manager.destinationOfSymbolicLink(atPath: path) == target)
      }
      #expect(try text(scratch.file("real/c.csv")).hasPrefix("id,"))
      #expect(try scratch.names == ["link.csv", "next.csv", "real"])
      let nowhere = scratch.file("nowhere.csv").path(percentEncoded: false)
      try manager.createSymbolicLink(atPath: nowhere, withDestinationPath: "missing/c.csv")
      #expect(throws: ExportError.io(file: nowhere, code: ENOENT)) {
        try store.export(Contact.all, as: .csv, to: .file(nowhere))
      }
    }
  }

  @Test("the owner of a file that is replaced stays", .enabled(if: geteuid() == 0))
  func owner() throws {
    try withContacts { store, scratch in
      let path = scratch.file("c.csv").path(percentEncoded: false)
      try Data("old".utf8).write(to: scratch.file("c.csv"))
      #expect(chown(path, 12_345, 54_321) == 0 && chmod(path, 0o4640) == 0)

      try store.export(Contact.all, as: .csv, to: .file(path))

      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_uid == 12_345 && status.st_gid == 54_321)
      #expect(status.st_mode & 0o7777 == 0o4640)
      #expect(try text(scratch.file("c.csv")).hasPrefix("id,"))
    }
  }

  @Test("a link stays a link, and what it names is replaced")
  func link() throws {
    try withContacts { store, scratch in
      try Data("old".utf8).write(to: scratch.file("real.csv"))
      try FileManager.default.createSymbolicLink(
        at: scratch.file("link.csv"), withDestinationURL: scratch.file("real.csv"))

      try store.export(Contact.all, as: .csv, to: .file(scratch.file("link.csv")))

      #expect(try text(scratch.file("real.csv")).hasPrefix("id,"))
      let path = scratch.file("link.csv").path(percentEncoded: false)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path).hasSuffix("real.csv"))
      #expect(try scratch.names == ["link.csv", "real.csv"])
    }
  }

  @Test(
    "a link to a name that is not UTF-8 is refused, and no other file replaced",
    arguments: [true, false])
  func linkToBytes(isThere: Bool) throws {
    try withContacts { store, scratch in
      let folder = scratch.url.path(percentEncoded: false)
      let target = (folder + "c").utf8CString.dropLast() + [-1, 0]
      if isThere {
        #expect(close(target.withUnsafeBufferPointer { creat($0.baseAddress!, 0o600) }) == 0)
      }
      // Foundation would not find it.
      defer { _ = target.withUnsafeBufferPointer { unlink($0.baseAddress!) } }
      let link = scratch.file("link.csv").path(percentEncoded: false)
      #expect(target.withUnsafeBufferPointer { symlink($0.baseAddress!, link) } == 0)
      // What the name becomes where each wrong byte is replaced.
      let other = scratch.file("c\u{FFFD}")
      try Data("kept".utf8).write(to: other)

      #expect(throws: ExportError.io(file: link, code: EILSEQ)) {
        try store.export(Contact.all, as: .csv, to: .file(link))
      }
      #expect(try text(other) == "kept")
    }
  }

  @Test("what is stopped, or fails, leaves the file that was there and nothing beside it")
  func stopped() throws {
    try withTemporaryStore { store in
      let scratch = try ScratchFolder()
      let file = scratch.file("c.csv")
      try Data("old".utf8).write(to: file)
      try store.collection("c").save(
        (0..<5_000).map { ["id": .integer($0), "t": "some text"] }, keyField: "id")

      #expect(throws: CancellationError.self) {
        try store.export(collection: "c", as: .csv, to: .file(file)) {
          if $0.completed >= 2_000 { throw CancellationError() }
        }
      }
      #expect(throws: DynamicQueryError.self) {
        try store.export(collection: "c", .where { $0.x == 1 }, as: .csv, to: .file(file))
      }

      #expect(try Data(contentsOf: file) == Data("old".utf8))
      #expect(try scratch.names == ["c.csv"])
    }
  }

  @Test("the path of the file that is not whole yet is told before the file is there")
  func temporaryFile() throws {
    try withTemporaryStore { store in
      let scratch = try ScratchFolder()
      try store.collection("c").save(
        (0..<5_000).map { ["id": .integer($0), "t": "some text"] }, keyField: "id")
      let told = Locked<[String]>([])
      var options = ExportOptions()
      options.onTemporaryFile = { path in
        #expect(!FileManager.default.fileExists(atPath: path))
        told.withLock { $0.append(path) }
      }

      var wasThere: [Bool] = []
      try store.export(
        collection: "c", as: .ndjson, to: .file(scratch.file("c.ndjson")), options: options
      ) { _ in
        wasThere.append(
          told.withLock { $0 }.map { FileManager.default.fileExists(atPath: $0) } == [true])
      }

      #expect(!wasThere.isEmpty && wasThere.allSatisfy { $0 })
      #expect(try scratch.names == ["c.ndjson"])
    }
  }

  @Test("a cancelled task stops an export")
  func cancelled() async throws {
    try await withTemporaryStore { store in
      try await store.collection("c").store.write { _ in }
      try store.collection("c").save(
        (0..<5_000).map { ["id": .integer($0)] }, keyField: "id")
      let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).csv")
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try store.export(collection: "c", as: .csv, to: .file(path))
      }

      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(!FileManager.default.fileExists(atPath: path.path(percentEncoded: false)))
    }
  }

  @Test("a target that cannot be written is an error with its name and the system's reason")
  func unwritable() throws {
    try withContacts { store, scratch in
      let missing = scratch.file("none/c.csv").path(percentEncoded: false)
      #expect(throws: ExportError.io(file: missing, code: ENOENT)) {
        try store.export(Contact.all, as: .csv, to: .file(missing))
      }
      let folder = scratch.url.path(percentEncoded: false)
      #expect(throws: ExportError.io(file: folder, code: EISDIR)) {
        try store.export(Contact.all, as: .csv, to: .file(folder))
      }
      #expect(throws: ExportError.io(file: "/dev/full", code: ENOSPC)) {
        try store.export(Contact.all, as: .csv, to: .file("/dev/full"))
      }
      #expect(throws: ExportError.io(file: "", code: EINVAL)) {
        try store.export(Contact.all, as: .csv, to: .file(""))
      }
    }
  }

  @Test("nothing is written to the path that the URL of a network has on this machine")
  func network() throws {
    try withContacts { store, scratch in
      var parts = URLComponents(string: "https://example.org")
      parts?.path = scratch.file("c.csv").path(percentEncoded: false)
      let url = try #require(parts?.url)

      #expect(throws: ExportError.io(file: url.absoluteString, code: EPROTONOSUPPORT)) {
        try store.export(Contact.all, as: .csv, to: .file(url))
      }
      #expect(try scratch.names.isEmpty)
    }
  }

  @Test("a device is written to and not replaced")
  func device() throws {
    try withContacts { store, _ in
      let report = try store.export(Contact.all, as: .csv, to: .file("/dev/null"))

      #expect(report.documentCount == 355)
      var status = stat()
      #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    }
  }

  #if os(Linux)
    @Test("a pipe without a reader is an error, and does not end the process by a signal")
    func brokenPipe() async {
      await #expect(processExitsWith: .success) {
        signal(SIGPIPE, SIG_DFL)
        let store = try Store.temporary()
        try store.collection("c").save(
          (0..<5_000).map { ["id": .integer($0), "t": "some text"] }, keyField: "id")
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])

        #expect(throws: ExportError.readerGone(file: "the pipe")) {
          try store.export(
            collection: "c", as: .ndjson, to: .descriptor(ends[1], name: "the pipe"))
        }

        var pending = sigset_t()
        sigpending(&pending)
        #expect(sigismember(&pending, SIGPIPE) == 0)
        try store.close()
      }
    }
  #endif

  @Test("the asynchronous export writes what the other one writes")
  func asynchronous() async throws {
    try await withTemporaryStore { store in
      let scratch = try ScratchFolder()
      try await store.load(
        fixture: Fixtures.folder.appending(path: "contacts.json"), into: Contact.self)
      func now() throws -> ExportReport {
        try store.export(Contact.all, as: .ndjson, to: .file(scratch.file("1")))
      }

      let report = try await store.export(
        Contact.all, as: .ndjson, to: .file(scratch.file("2")))

      #expect(try report == now())
      #expect(try text(scratch.file("1")) == text(scratch.file("2")))
    }
  }
}
