import Foundation
import LarderTestKit
import Testing

@testable import LarderLMDB

@Suite("creating a store")
struct CreationTests {
  let folder = TestFolder()

  struct Refused: Error {}

  private func open(_ value: String) throws -> Environment {
    try Environment.open(at: folder.store) { try $0.put(value, "made") }
  }

  @Test("the first transaction of a new store runs once")
  func initialisedOnce() throws {
    let environment = try open("first")
    try environment.close()

    #expect(try open("second").read("made") == "first")
  }

  @Test("a process that dies in the first transaction leaves a store that is created anew")
  func diesWhileCreating() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let child = try Child {
        _ = try Environment.open(at: folder.store) { transaction in
          try transaction.put("child", "made")
          _exit(0)
        }
        return 1
      }
      #expect(child.report() == nil)
      #expect(FileManager.default.fileExists(atPath: folder.data))

      #expect(
        try Environment.open(at: folder.store) { try $0.put("parent", "made") }
          .read("made") == "parent")
    }
  }

  @Test("an unfinished creation is begun again whatever it left in the files")
  func unfinishedRemains() throws {
    try FileManager.default.createDirectory(
      atPath: folder.store, withIntermediateDirectories: false)
    try replaceContents(of: folder.opening, by: Data("creating\n".utf8))
    try replaceContents(of: folder.data, by: Data(repeating: 7, count: 5000))
    try replaceContents(of: folder.lock, by: Data(repeating: 7, count: 100))

    #expect(try open("anew").read("made") == "anew")
    #expect(try contents(of: folder.opening).starts(with: Data("ready".utf8)))
  }

  private func noteUnfinished() throws {
    let handle = try #require(FileHandle(forUpdatingAtPath: folder.opening))
    try handle.write(contentsOf: Data("creating\n".utf8))
    try handle.close()
  }

  @Test("a store that was committed to is opened, although its creation was not noted as finished")
  func committedIsKept() throws {
    for isReadOnly in [true, false] {
      let environment = try open("first")
      try environment.close()
      try noteUnfinished()
      var options = Environment.Options()
      options.isReadOnly = isReadOnly

      let again = try Environment.open(at: folder.store, options: options) {
        try $0.put("anew", "made")
      }

      #expect(try again.read("made") == "first")
      try again.close()
      let note = try contents(of: folder.opening)
      #expect(note.starts(with: Data((isReadOnly ? "creating" : "ready").utf8)))
    }
  }

  @Test("a damaged store whose creation was not noted as finished is refused, and stays as it is")
  func damagedIsKept() throws {
    let environment = try open("first")
    for number in 0..<50 {
      try environment.store(["\(number)": String(repeating: "x", count: 900)])
    }
    try environment.close()
    var bytes = try contents(of: folder.data)
    bytes.replaceSubrange(8192..<20_480, with: Data(count: 12_288))
    try replaceContents(of: folder.data, by: bytes)
    chmod(folder.data, 0o600)
    try noteUnfinished()

    #expect(code { _ = try open("anew") } == .corrupted)
    #expect(try contents(of: folder.data) == bytes)
  }

  @Test("bytes that no creation leaves are moved aside and not deleted")
  func foreignIsMoved() throws {
    try FileManager.default.createDirectory(
      atPath: folder.store, withIntermediateDirectories: false)
    try replaceContents(of: folder.opening, by: Data("creating\n".utf8))
    let bytes = Data("a letter to somebody".utf8)
    try replaceContents(of: folder.data, by: bytes)
    for path in [folder.opening, folder.data] { chmod(path, 0o600) }
    var options = Environment.Options()
    options.isReadOnly = true

    let error = failure { _ = try Environment.open(at: folder.store, options: options) }
    #expect(error?.code == .missing)
    #expect(error?.description.contains("moved aside") == true)
    #expect(try contents(of: folder.data) == bytes)

    #expect(try open("anew").read("made") == "anew")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let aside = try #require(names.first { $0.hasPrefix("store.quarantine-") })
    #expect(try contents(of: folder.path + "/\(aside)/data.mdb") == bytes)
  }

  @Test("a first transaction that throws is not kept, and the next opener begins again")
  func initialisationThrows() throws {
    #expect(throws: Refused.self) {
      _ = try Environment.open(at: folder.store) { transaction in
        try transaction.put("refused", "made")
        throw Refused()
      }
    }

    #expect(try open("again").read("made") == "again")
  }

  /// What was there when a folder was about to be flushed.
  private struct Flush: Equatable {
    let isAbove: Bool
    let hasData: Bool
    let isReady: Bool
  }

  /// Runs `body`, and has each flush of the store's folder, and of the one above, `fail` or not.
  private func flushes(
    of body: () throws -> Void, failing fail: @escaping @Sendable (Flush) -> Bool = { _ in false }
  ) throws -> [Flush] {
    let all = Locked<[Flush]>([])
    let (above, inner, data, opening) = (folder.path, folder.store, folder.data, folder.opening)
    for path in [above, inner] {
      _ = CallFaults.watch(path) { call in
        guard call == .syncFolder else { return nil }
        let note = FileManager.default.contents(atPath: opening) ?? Data()
        let flush = Flush(
          isAbove: path == above, hasData: FileManager.default.fileExists(atPath: data),
          isReady: note.starts(with: Data("ready".utf8)))
        all.withLock { $0.append(flush) }
        return fail(flush) ? EIO : nil
      }
    }
    defer { for path in [above, inner] { CallFaults.stopWatching(path) } }
    try body()
    return all.withLock { $0 }
  }

  @Test("the folder of a new store is flushed with its file in it, and then the folder above it")
  func foldersAreFlushed() throws {
    let found = try flushes { try open("made").close() }

    #expect(found.contains(Flush(isAbove: false, hasData: true, isReady: false)))
    #expect(found.first == Flush(isAbove: true, hasData: false, isReady: false))
    #expect(found.last == Flush(isAbove: true, hasData: true, isReady: true))
    #expect(try flushes { try open("again").close() }.isEmpty)
  }

  @Test("a store whose folder, or the one above, cannot be flushed is not created")
  func foldersThatCannotBeFlushed() throws {
    for isAbove in [true, false] {
      _ = try flushes {
        #expect(code { _ = try open("refused") } == .system(errno: EIO))
      } failing: {
        $0.isAbove == isAbove
      }
    }

    #expect(try open("kept").read("made") == "kept")
  }

  @Test("a copied data file alone is a finished store")
  func copiedFile() throws {
    try open("original").close()
    let other = TestFolder()
    try FileManager.default.createDirectory(atPath: other.store, withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: folder.data, toPath: other.data)

    let copy = try Environment.open(at: other.store) { try $0.put("wrong", "made") }

    #expect(try copy.read("made") == "original")
  }

  @Test("a store whose first transaction wrote nothing is finished too")
  func emptyCreation() throws {
    try Environment.open(at: folder.store).close()

    #expect(try contents(of: folder.opening).starts(with: Data("ready".utf8)))
    #expect(try open("late").read("made") == nil)
  }

  @Test("opening waits while another process holds larder.lock, and lets go of it afterwards")
  func openingIsExclusive() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      try Environment.open(at: folder.store).close()
      let opening = folder.opening
      let child = try Child {
        let descriptor = Glibc.open(opening, O_RDWR)
        // Shared, so that only an exclusive lock has to wait for it.
        return flock(descriptor, LOCK_SH) == 0 ? 1 : 0
      }
      #expect(child.report() == 1)
      let store = folder.store
      let progress = Locked((hasBegun: false, hasOpened: false))

      let opener = OnThread {
        progress.withLock { $0.hasBegun = true }
        let environment = try Environment.open(at: store)
        progress.withLock { $0.hasOpened = true }
        return environment
      }
      while !progress.withLock({ $0.hasBegun }) { usleep(1000) }
      usleep(200_000)

      #expect(!progress.withLock { $0.hasOpened })
      child.kill()
      let environment = try opener.value()
      let descriptor = Glibc.open(opening, O_RDWR)
      defer { close(descriptor) }
      #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      try environment.close()
    }
  }

  @Test("opening waits no longer than it may, and names the process that it waits for")
  func openingTimesOut() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      try Environment.open(at: folder.store).close()
      let (store, opening) = (folder.store, folder.opening)
      let child = try Child {
        let descriptor = Glibc.open(opening, O_RDWR)
        guard flock(descriptor, LOCK_EX) == 0 else { return 0 }
        return 1
      }
      #expect(child.report() == 1)
      kill(child.id, SIGSTOP)
      var status: Int32 = 0
      waitpid(child.id, &status, WUNTRACED)
      let told = Locked<[WriteHolder?]>([])
      let holder = WriteHolder(processID: child.id, isStopped: true)
      @Sendable func open(_ seconds: Double) throws -> Environment {
        let wait = OpenWait(timeoutSeconds: seconds) { found in
          told.withLock { $0.append(found) }
        }
        return try Environment.open(at: store, wait: wait) { _ in }
      }

      for seconds in [0, 0.05] {
        let error = failure { _ = try open(seconds) }
        #expect(error?.code == .openingElsewhere(by: holder))
        #expect(error?.path == folder.store)
        #expect(error?.detail.hasSuffix(": process \(child.id), which is stopped") == true)
      }
      #expect(told.withLock { $0.isEmpty })
      // Until somebody is told, and then on.
      let opener = OnThread { try open(1e9) }
      while told.withLock({ $0.isEmpty }) { usleep(1000) }
      #expect(told.withLock { $0 } == [holder])
      child.kill()
      try opener.value().close()
    }
  }

  @Test("a store whose disk has no room for a note opens, and the next opening looks at all pages")
  func noRoomForNotes() throws {
    try Environment.open(at: folder.store).close()
    func session() throws -> OpeningLock.Session? {
      let files = try StoreFiles(folder.store, isReadOnly: false)
      return try OpeningLock.acquire(files, isReadOnly: false)?.session()
    }
    guard case .closed = try session() else { return #expect(Bool(false), "it was not closed") }
    _ = CallFaults.watch(folder.opening) { $0 == .note ? ENOSPC : nil }
    do {
      let environment = try Environment.open(at: folder.store)
      #expect(try session() == .unknown)
      try environment.store(["a": "1"])
      #expect(try environment.read("a") == "1")
      try environment.close()
      #expect(try session() == .unknown)
    }
    CallFaults.stopWatching(folder.opening)
    // A creation that cannot be noted does not begin.
    let other = TestFolder()
    _ = CallFaults.watch(other.opening) { $0 == .note ? ENOSPC : nil }
    #expect(code { _ = try Environment.open(at: other.store) } == .system(errno: ENOSPC))
    CallFaults.stopWatching(other.opening)

    let environment = try Environment.open(at: folder.store)
    #expect(try environment.read("a") == "1")
    try environment.close()
    guard case .closed = try session() else { return #expect(Bool(false), "it was not closed") }
  }

  @Test("the notes have their place on the disk from the first opening on")
  func placeOfNotes() throws {
    try Environment.open(at: folder.store).close()
    var status = stat()
    #expect(lstat(folder.opening, &status) == 0)
    #expect(status.st_size >= 1024 && status.st_blocks > 0)
    // A store that was copied here has no note, or an empty file.
    try replaceContents(of: folder.opening, by: Data())
    chmod(folder.opening, 0o600)
    let environment = try Environment.open(at: folder.store)
    #expect(lstat(folder.opening, &status) == 0)
    #expect(status.st_size >= 1024 && status.st_blocks > 0)
    try environment.close()
  }

  @Test("a store is created inside a folder that exists, not inside one that does not")
  func missingParent() throws {
    let error = failure { _ = try Environment.open(at: folder.path + "/no/where") }

    #expect(error?.code == .system(errno: ENOENT))
    #expect(error?.path == folder.path + "/no/where")
  }
}
