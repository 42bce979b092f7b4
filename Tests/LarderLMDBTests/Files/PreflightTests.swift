import Foundation
import LarderTestKit
import Testing

@testable import LarderLMDB

@Suite struct PreflightTests {
  private let folder = TestFolder()

  /// A store that is too large to be looked at every time, closed, and then damaged by a key out of
  /// order: LMDB does not find the record, and reads the others.
  private func damagedLargeStore() throws {
    try make(valueCount: 2500)
    var file = try EditedFile(folder.data)
    #expect(file.bytes.count > Preflight.smallByteCount)
    file.put16(file.leaf, file.node(file.leaf, 1) + 8, 0x7A7A)
    try replaceContents(of: folder.data, by: Data(file.bytes))
  }

  private func make(valueCount: Int) throws {
    let environment = try Environment.open(at: folder.store)
    let database = try #require(try environment.database(named: "documents/a", create: true))
    var transaction = try environment.beginWrite()
    for number in 0..<valueCount {
      try transaction.put(
        String(repeating: "v", count: 3000), "key \(10_000 + number)", in: database)
    }
    try transaction.commit()
    try environment.close()
  }

  private func open(checksPages: Bool = false, isReadOnly: Bool = false) -> LMDBError.Code? {
    code {
      var options = Environment.Options()
      options.isReadOnly = isReadOnly
      try Environment.open(
        at: folder.store, options: options, checksPages: checksPages, initialise: { _ in }
      ).close()
    }
  }

  private var note: String {
    get throws {
      let bytes = try contents(of: folder.opening)
      // Behind it stand the eight bytes of the bell.
      return String(decoding: bytes.dropFirst(16).prefix(80), as: UTF8.self)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }

  /// What is noted of a store that is open, and was closed, as its file is now.
  private var open: String {
    get throws {
      let identity = try #require(try SafeFiles.identity(folder.data))
      return "open \(SystemCall.bootID ?? "-") \(String(identity.number, radix: 16))"
    }
  }
  private var closed: String {
    get throws {
      "closed \(String(try #require(try SafeFiles.stamp(folder.data)).number, radix: 16))"
    }
  }

  private func leave(_ note: String) throws {
    var bytes = Data(try contents(of: folder.opening).prefix(16))
    while bytes.count < 16 { bytes.append(0) }
    bytes.append(Data((note.padding(toLength: 79, withPad: " ", startingAt: 0) + "\n").utf8))
    try replaceContents(of: folder.opening, by: bytes)
  }

  @Test("a large store that is as it was closed is opened without a look at every page")
  func closing() throws {
    try damagedLargeStore()
    // As if the disk had changed its bytes.
    try leave(closed)
    #expect(open() == nil)
    #expect(try note == closed)
    #expect(open(isReadOnly: true) == nil)
  }

  @Test(
    "a large store that was written to since it was closed is looked at, whatever its times say")
  func touched() throws {
    try damagedLargeStore()
    #expect(try note.hasPrefix("closed "))
    #expect(open(isReadOnly: true) == .corrupted)
    #expect(open() == .corrupted)

    var before = stat()
    try #require(lstat(folder.data, &before) == 0)
    try leave(closed)
    let times = [before.st_atim, before.st_mtim]
    try replaceContents(of: folder.data, by: contents(of: folder.data))
    try #require(utimensat(AT_FDCWD, folder.data, times, 0) == 0)
    #expect(open() == .corrupted)
  }

  @Test("a byte that is written as soon as the store is closed is noticed")
  func touchedAtOnce() throws {
    for number in 0..<100 {
      let environment = try Environment.open(at: folder.store)
      try environment.store(["a": "\(number)"])
      try environment.close()
      let file = Glibc.open(folder.data, O_RDWR)
      var byte: UInt8 = 0
      try #require(pread(file, &byte, 1, 5000) == 1 && pwrite(file, &byte, 1, 5000) == 1)
      Glibc.close(file)
      #expect(try note != closed)
    }
  }

  @Test("a byte that somebody else writes while a store is open is noticed when it is closed")
  func touchedWhileOpen() throws {
    try make(valueCount: 2500)
    let environment = try Environment.open(at: folder.store)
    let file = Glibc.open(folder.data, O_RDWR)
    var byte: UInt8 = 0
    try #require(pread(file, &byte, 1, 5000) == 1 && pwrite(file, &byte, 1, 5000) == 1)
    Glibc.close(file)
    try environment.close()
    #expect(try note == "suspect")
    #expect(open() == nil)
    #expect(try note == closed)
  }

  @Test("a store that is closed as it was opened keeps the times of its file")
  func untouched() throws {
    try make(valueCount: 1)
    let before = try note
    try #require(open() == nil)
    #expect(try note == before)
  }

  @Test("a store is noted as open while it is, with the boot of the system and its file")
  func noted() throws {
    let environment = try Environment.open(at: folder.store)
    #expect(try note == open)
    try environment.close()
    #expect(try note == closed)

    let reader = try { () in
      var options = Environment.Options()
      options.isReadOnly = true
      return try Environment.open(at: folder.store, options: options)
    }()
    #expect(try note == closed)
    try reader.close()
    #expect(try note == closed)
  }

  @Test("an exchange of the file while it is open is noted")
  func compacted() throws {
    try make(valueCount: 10)
    let environment = try Environment.open(at: folder.store)
    _ = try environment.compact(timeoutSeconds: 300, prepare: { _ in }, progress: { _, _ in true })
    #expect(try note == open)
    try environment.close()
    #expect(try note == closed)
  }

  @Test("a copy of the folder is looked at, of a store in use and of one that was closed")
  func copied() throws {
    try damagedLargeStore()
    for note in [try closed, try open] {
      try leave(note)
      let copy = TestFolder()
      try FileManager.default.copyItem(atPath: folder.store, toPath: copy.store)
      #expect(code { try Environment.open(at: copy.store).close() } == .corrupted)
    }
  }

  @Test(
    "after the system went down, on suspicion, as a copy and on request all pages are looked at")
  func reasons() throws {
    try damagedLargeStore()
    let identity = try #require(try SafeFiles.identity(folder.data)).number
    let other = "open 00000000-1111-2222-3333-444444444444 \(String(identity, radix: 16))"

    for note in [other, "open - \(identity)", "suspect", "", "closed", "nonsense"] {
      try leave(note)
      #expect(open() == .corrupted, "\(note)")
      #expect(open(isReadOnly: true) == .corrupted, "\(note)")
    }
    try FileManager.default.removeItem(atPath: folder.opening)
    #expect(open() == .corrupted)
    try leave(closed)
    #expect(open(checksPages: true) == .corrupted)
  }

  @Test("an opening that finds damage makes the next one look as far, also where it only reads")
  func found() throws {
    try damagedLargeStore()
    for isReadOnly in [true, false] {
      try leave(closed)
      #expect(open(isReadOnly: isReadOnly) == nil)
      #expect(open(checksPages: true, isReadOnly: isReadOnly) == .corrupted)
      #expect(try note == "suspect")
      #expect(open() == .corrupted)
    }

    // What it says of a commit is not forgotten.
    try leave("failed")
    #expect(open() == .corrupted)
    #expect(try note == "failed")
  }

  @Test("a reason is gone once a look at all pages found nothing")
  func settled() throws {
    try make(valueCount: 2500)
    for note in ["open 00000000-1111-2222-3333-444444444444 1", "suspect", ""] {
      try leave(note)
      #expect(open(isReadOnly: true) == nil)
      // What is noted of damage stands until one has it open who writes.
      #expect(try self.note == (note == "suspect" ? note : closed))
      let environment = try Environment.open(at: folder.store)
      #expect(try self.note == open)
      try environment.close()
      #expect(try self.note == closed)
    }
  }

  @Test("a suspicion outlives the closing, and a volatile store is never noted as closed")
  func suspicion() throws {
    let environment = try Environment.open(at: folder.store)
    environment.noteSuspicion()
    try environment.close()
    #expect(try note == "suspect")

    var options = Environment.Options()
    options.durability = .volatile
    try Environment.open(at: folder.store, options: options).close()
    #expect(try note == open)
  }

  @Test("a file that ends before its last page is looked at when it changes, and not each time")
  func endsEarly() throws {
    try make(valueCount: 2500)
    let environment = try Environment.open(at: folder.store)
    let database = try #require(try environment.database(named: "documents/a", create: false))
    // Behind two commits there are free pages, among which those of the large value then go.
    for number in 0..<3 {
      var transaction = try environment.beginWrite()
      _ = try transaction.delete("key \(10_000 + number)", in: database)
      if number == 2 {
        try transaction.put(String(repeating: "w", count: 3_000_000), "large", in: database)
        _ = try transaction.delete("large", in: database)
      }
      try transaction.commit()
    }
    try environment.close()
    let metas = try #require(try? MetaPages.read(PageFile(folder.data)).get())
    try #require(SafeFiles.byteCount(folder.data) < metas.newest.fullByteCount)

    #expect(open() == nil)
    var file = try EditedFile(folder.data)
    file.put16(file.leaf, file.node(file.leaf, 1) + 8, 0x7A7A)
    try replaceContents(of: folder.data, by: Data(file.bytes))
    #expect(open() == .corrupted)
    try leave(closed)
    #expect(open() == nil)
  }

  @Test("a small file is always looked at")
  func small() throws {
    try make(valueCount: 300)
    var file = try EditedFile(folder.data)
    file.put16(file.leaf, file.node(file.leaf, 1) + 8, 0x7A7A)
    try replaceContents(of: folder.data, by: Data(file.bytes))
    #expect(open() == .corrupted)
  }

  /// As LMDB leaves the file when the meta page of a commit cannot be written: it takes the number
  /// of the commit back, and the end of the file, but not the trees.
  private func failCommit() throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["another": "1"])
    try environment.close()
    var file = try EditedFile(folder.data)
    file.put64(file.metaNumber, 144, file.meta.transaction - 2)
    try replaceContents(of: folder.data, by: Data(file.bytes))
  }

  @Test("a commit that failed is no damage where it is noted, until another is written over it")
  func failedCommit() throws {
    try make(valueCount: 20)
    try failCommit()
    try leave(closed)
    #expect(open() == .corrupted)

    try leave("failed")
    for _ in 0..<2 {
      #expect(open() == nil)
      #expect(try note == "failed")
    }

    let environment = try Environment.open(at: folder.store)
    try environment.store(["more": "1"])
    try environment.close()
    #expect(open() == nil)
    #expect(try note == closed)
  }

  @Test("a commit that fails is noted, and a suspicion behind it does not take its place")
  func failingCommit() throws {
    let environment = try Environment.open(at: folder.store)
    let faults = CallFaults.watch(environment.folder) { $0 == .commit ? EIO : nil }
    defer { CallFaults.stopWatching(environment.folder) }

    let error = failure { try environment.store(["a": "1"]) }
    environment.noteSuspicion()

    #expect(error?.code == .system(errno: EIO))
    #expect(try note == "failed")
    withExtendedLifetime(faults) {}
  }

  @Test("behind a commit that failed the file is flushed: LMDB has put back what it wrote over")
  func failedCommitIsFlushed() throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["a": "1"])
    let calls = Locked<[Call]>([])
    let folder = folder.store
    _ = CallFaults.watch(folder) { call in
      calls.withLock { $0.append(call) }
      return call == .commit ? EIO : nil
    }
    defer { CallFaults.stopWatching(folder) }

    let error = failure { try environment.store(["a": "2"]) }

    #expect(error?.code == .system(errno: EIO))
    #expect(error?.description.contains("The disk failed") == true)
    #expect(calls.withLock { Array($0.suffix(2)) } == [.commit, .sync])
  }

  @Test("an older meta page whose tree lies behind the end that it names is not followed")
  func treeBehindEnd() throws {
    try make(valueCount: 20)
    var file = try EditedFile(folder.data)
    file.put64(1 - file.metaNumber, 136, 1)
    try replaceContents(of: folder.data, by: Data(file.bytes))
    try leave(closed)

    #expect(open() == nil)
  }

  @Test("a file that is cut off is refused, whatever is noted")
  func cutOff() throws {
    try make(valueCount: 2500)
    let bytes = try contents(of: folder.data)
    for count in [bytes.count - 4096 * 40, bytes.count / 2, 4096 * 3, 4096 + 100, 4096, 200] {
      try replaceContents(of: folder.data, by: bytes.prefix(count))
      #expect(open() == .corrupted, "\(count) bytes")
    }
  }

  @Test("counts of pages that no file has are refused, and do not overflow")
  func counts() throws {
    try make(valueCount: 2500)
    let sound = try contents(of: folder.data)
    for tree in [40, 88] {
      for count in [8, 16, 24, 32] {
        for value in [-1, Int.max, Int.min, 1 << 61] {
          try replaceContents(of: folder.data, by: sound)
          var file = try EditedFile(folder.data)
          file.put64(file.metaNumber, tree + count, value)
          if count == 32, value > 0 { continue }
          try replaceContents(of: folder.data, by: Data(file.bytes))
          try leave(closed)
          #expect(open() == .corrupted, "\(tree) \(count) \(value)")
        }
      }
    }

    // Those of a database stand on a page that nobody looks at.
    for value in [-1, Int.max, 1 << 61] {
      try replaceContents(of: folder.data, by: sound)
      var file = try EditedFile(folder.data)
      for count in [8, 16, 24, 32] { file.put64(file.mainLeaf, file.tree + count, value) }
      try replaceContents(of: folder.data, by: Data(file.bytes))
      try leave(closed)
      let environment = try Environment.open(at: folder.store)
      let database = try #require(try environment.database(named: "documents/a", create: false))
      let snapshot = try environment.beginRead()
      #expect(try snapshot.statistics(of: database).entryCount >= 0)
      #expect(environment.usedByteCount(in: snapshot) > 0)
      _ = consume snapshot
      try environment.close()
    }
  }

  @Test("a file of something else is refused in LMDB's words")
  func foreign() throws {
    try make(valueCount: 10)
    try replaceContents(of: folder.data, by: Data(repeating: 7, count: 100_000))
    #expect(open() == .invalidFile)
    var file = Data(repeating: 0, count: 100_000)
    file.replaceSubrange(0..<5, with: Data("hello".utf8))
    try replaceContents(of: folder.data, by: file)
    #expect(open() == .invalidFile)
  }

  @Test("an environment whose lock file is in use elsewhere in this process is not asked for it")
  func lockFileHere() throws {
    let environment = try Environment.open(at: folder.store)
    let files = try StoreFiles(folder.store, isReadOnly: false)
    let identity = try #require(try SafeFiles.identity(files.data))

    #expect(try files.isOpenElsewhere(except: nil))
    // LMDB's own lock is seen by other processes only.
    #expect(try !files.isOpenElsewhere(except: identity))
    try environment.close()
    #expect(try !files.isOpenElsewhere(except: nil))
  }
}
