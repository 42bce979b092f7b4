import Foundation
import LarderTestKit
import Testing

@testable import LarderLMDB

@Suite("files that are not safe to open")
struct SafeFilesTests {
  let folder = TestFolder()
  let names = ["data.mdb", "lock.mdb", "larder.lock"]

  init() throws {
    try FileManager.default.createDirectory(
      atPath: folder.store, withIntermediateDirectories: false)
  }

  private func expectUnsafe(
    _ path: String, _ reason: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = failure { _ = try Environment.open(at: folder.store) }
    #expect(error?.code == .unsafeFile, sourceLocation: sourceLocation)
    #expect(error?.path == path, sourceLocation: sourceLocation)
    #expect(error?.detail.contains(reason) == true, sourceLocation: sourceLocation)
  }

  #if os(Linux)
    @Test("a file's identity is the same however it is asked for, on every file system")
    func identities() throws {
      var devices: Set<UInt64> = []
      for path in ["/", "/proc", "/sys", "/dev", "/dev/null", folder.path] {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        guard case .found(let identity) = FileIdentity.look(path) else {
          Issue.record("\(path) has no identity")
          continue
        }
        #expect(identity == FileIdentity(status), "\(path)")
        devices.insert(identity.device)
      }
      // Numbers that are all the same, or zero, would prove little.
      #expect(devices.count > 2)
      guard case .absent = FileIdentity.look(folder.path + "/nothing") else {
        Issue.record("nothing has an identity")
        return
      }
    }
  #endif

  @Test("a link in place of a file is refused, and its victim keeps every byte")
  func links() throws {
    for name in names {
      let victim = folder.path + "/victim"
      let bytes = Data(repeating: 9, count: 20_000)
      try replaceContents(of: victim, by: bytes)
      let link = folder.store + "/" + name
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim)

      expectUnsafe(link, "symbolic link")

      #expect(try contents(of: victim) == bytes)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.store) == [name])
      try FileManager.default.removeItem(atPath: link)
    }
  }

  @Test("a link to nowhere is refused and creates nothing")
  func danglingLinks() throws {
    for name in names {
      let link = folder.store + "/" + name
      let target = folder.path + "/target"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)

      expectUnsafe(link, "symbolic link")

      #expect(!FileManager.default.fileExists(atPath: target))
      try FileManager.default.removeItem(atPath: link)
    }
  }

  @Test("a file with a second name is refused, and keeps every byte")
  func hardLinks() throws {
    for name in names {
      let victim = folder.path + "/victim"
      let bytes = Data(repeating: 9, count: 100)
      try replaceContents(of: victim, by: bytes)
      try FileManager.default.linkItem(atPath: victim, toPath: folder.store + "/" + name)

      expectUnsafe(folder.store + "/" + name, "2 names")

      #expect(try contents(of: victim) == bytes)
      try FileManager.default.removeItem(atPath: folder.store + "/" + name)
      try FileManager.default.removeItem(atPath: victim)
    }
  }

  @Test("a pipe in place of a file is refused at once, to read as to write")
  func pipes() throws {
    for name in names {
      let path = folder.store + "/" + name
      #expect(mkfifo(path, 0o600) == 0)

      expectUnsafe(path, "pipe")
      var options = Environment.Options()
      options.isReadOnly = true
      #expect(
        code { _ = try Environment.open(at: folder.store, options: options) } == .unsafeFile)

      try FileManager.default.removeItem(atPath: path)
    }
  }

  @Test("another user's file is refused for writing", .enabled(if: geteuid() == 0))
  func otherOwner() throws {
    try Environment.open(at: folder.store).close()
    for name in names {
      let path = folder.store + "/" + name
      #expect(chown(path, 1234, 1234) == 0)
      expectUnsafe(path, "user 1234")
      #expect(chown(path, 0, 0) == 0)
    }
    #expect(chown(folder.store, 1234, 1234) == 0)
    expectUnsafe(folder.store, "user 1234")
  }

  @Test(
    "another user's folder opens to read, and nothing is left in it", .enabled(if: geteuid() == 0))
  func otherOwnerReadOnly() throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["a": "1"])
    try environment.close()
    try FileManager.default.removeItem(atPath: folder.lock)
    try FileManager.default.removeItem(atPath: folder.opening)
    #expect(chown(folder.data, 1234, 1234) == 0 && chown(folder.store, 1234, 1234) == 0)
    var options = Environment.Options()
    options.isReadOnly = true

    let reader = try Environment.open(at: folder.store, options: options)

    #expect(try reader.read("a") == "1")
    #expect(try reader.read("a") == "1")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.store) == ["data.mdb"])
  }

  @Test("a folder that every user may write to is refused, but to read or where names are guarded")
  func folderForAll() throws {
    try Environment.open(at: folder.store).close()
    chmod(folder.store, 0o777)

    expectUnsafe(folder.store, "chmod o-w")
    var options = Environment.Options()
    options.isReadOnly = true
    try Environment.open(at: folder.store, options: options).close()
    for mode: mode_t in [0o1777, 0o770, 0o755] {
      chmod(folder.store, mode)
      try Environment.open(at: folder.store).close()
    }
  }

  @Test("a link in place of the folder is refused, with a slash at its end too")
  func linkedFolder() throws {
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.store)

    for path in [link, link + "/"] {
      #expect(code { _ = try Environment.open(at: path) } == .unsafeFile)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.store) == [])
  }

  @Test("a file in place of the folder is refused")
  func fileAsFolder() throws {
    let path = folder.path + "/file"
    try replaceContents(of: path, by: Data([1]))

    #expect(code { _ = try Environment.open(at: path) } == .unsafeFile)
  }

  @Test("folder and files are for this user alone, whatever the umask")
  func modes() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let names = ["data.mdb", "lock.mdb", "larder.lock"]
      for mask: mode_t in [0, 0o777] {
        let path = folder.path + "/masked\(mask)"
        let report = try Child.report {
          umask(mask)
          let environment = try Environment.open(at: path)
          try environment.store(["a": "1"])
          try environment.copy(to: path + "-copy", compacting: true)
          return 0
        }
        #expect(report == 0)
        #expect(mode(path) == 0o700)
        #expect(mode(path + "-copy") == 0o700)
        for name in names { #expect(mode(path + "/" + name) == 0o600) }
        #expect(mode(path + "-copy/data.mdb") == 0o600)
      }
    }
  }

  @Test("a path that the system would take for another one is refused")
  func misleadingPaths() throws {
    try Environment.open(at: folder.store).close()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)

    for (path, reason) in [(folder.store + "\0more", "zero byte"), ("", "empty")] {
      let opening = failure { _ = try Environment.open(at: path) }
      #expect(opening?.detail.contains(reason) == true)
      let environment = try Environment.open(at: folder.store)
      let backup = failure {
        _ = try environment.backup(to: path, prepare: { _ in }, progress: { _, _ in true })
      }
      #expect(backup?.detail.contains(reason) == true)
      try environment.close()
    }

    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == names)
  }

  @Test("what is printed to a standard descriptor that was closed is not written over the store")
  func standardDescriptors() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      for descriptor: Int32 in 0...2 { close(descriptor) }
      let environment = try Environment.open(at: folder.store)
      try environment.store(["a": String(repeating: "x", count: 100_000)])
      for descriptor: Int32 in 0...2 { close(descriptor) }
      _ = try environment.compact(
        timeoutSeconds: 300, prepare: { _ in }, progress: { _, _ in true })
      let before = try contents(of: folder.data)
      let text = [UInt8](repeating: UInt8(ascii: "w"), count: 10_000)

      for descriptor: Int32 in 0...2 { _ = write(descriptor, text, text.count) }

      #expect(try contents(of: folder.data) == before)
      for name in [folder.lock, folder.opening] {
        #expect(try contents(of: name).range(of: Data(text.prefix(100))) == nil)
      }
    }
  }

  @Test("no descriptor of a store survives exec")
  func closeOnExec() throws {
    let environment = try Environment.open(at: folder.store)
    var found = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/" + name)
      guard let target, target.hasPrefix(folder.store), let descriptor = Int32(name) else {
        continue  // The descriptor that listed the folder is gone, or not ours.
      }
      found += 1
      #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0, "\(target)")
    }
    #expect(found >= 2)
    try environment.close()
  }
}

/// The rights of a file, zero when it is absent.
private func mode(_ path: String) -> mode_t {
  var status = stat()
  return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
}
