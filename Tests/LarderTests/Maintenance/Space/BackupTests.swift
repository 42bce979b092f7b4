import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@Suite(.timeLimit(.minutes(20))) struct BackupTests {
  private let folder = TestFolder()
  private var target: String { folder.path + "/backup" }

  private func save(_ count: Int, nonce: String, in store: Store) throws {
    try store.repository(of: Note.self).save(
      (0..<count).map { Note(id: "\($0)", nonce: nonce, batchCount: count) })
  }

  private func nonces(at path: String) throws -> Set<String> {
    let store = try Store(at: path)
    let nonces = Set(try store.repository(of: Note.self).fetch(Note.all).map(\.nonce))
    try verifyAndClose(store)
    return nonces
  }

  private func names(in path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  // MARK: Backups

  @Test("a backup is one file, all of one moment, and opens as a store")
  func backup() throws {
    let store = try Store(at: folder.store)
    try save(1000, nonce: "first", in: store)

    let byteCount = try store.backup(to: URL(filePath: target))

    try save(1000, nonce: "second", in: store)
    #expect(try names(in: target) == ["data.mdb"])
    #expect(try contents(of: target + "/data.mdb").count == byteCount)
    #expect(mode(of: target) == 0o700)
    #expect(try names(in: folder.path) == ["backup", "store"])
    #expect(try nonces(at: target) == ["first"])
    #expect(try store.repository(of: Note.self).get("1")?.nonce == "second")
    try verifyAndClose(store)
  }

  @Test("a backup that is read before it was ever written has a snapshot at once")
  func readOnly() throws {
    let store = try Store(at: folder.store)
    for round in 0..<30 { try save(3, nonce: "\(round)", in: store) }
    try store.backup(to: target)

    let copy = try Store(at: target, options: StoreOptions(isReadOnly: true))

    try copy.read { snapshot in
      // A record that named a later transaction would make every snapshot be taken a hundred times.
      #expect(snapshot.state.transaction <= UInt64(snapshot.transaction.id))
      let count = try snapshot.count(Note.all)
      #expect(count == 3)
      #expect(snapshot.sequence > 80)
    }
    try copy.close()
    try verifyAndClose(store)
  }

  @Test("a backup of a store that is written all the time has no torn transaction")
  func whileWriting() throws {
    let store = try Store(at: folder.store)
    try save(50, nonce: "0", in: store)
    let (isOver, saved) = (Flag(), Locked(0))
    let writer = OnThread {
      while !isOver.isSet {
        let round = saved.withLock { $0 } + 1
        try save(50, nonce: "\(round)", in: store)
        saved.withLock { $0 = round }
      }
    }

    var seen: [Int] = []
    for number in 0..<8 {
      // Each behind another save, however the threads take turns.
      for _ in 0..<120_000 where saved.withLock({ $0 }) <= seen.last ?? 0 { usleep(1000) }
      try store.backup(to: "\(target)-\(number)")
      let nonces = try nonces(at: "\(target)-\(number)")
      #expect(nonces.count == 1)
      seen += nonces.compactMap { Int($0) }
    }
    isOver.set()

    try writer.value()
    #expect(seen == Set(seen).sorted())
    try verifyAndClose(store)
  }

  @Test("a backup overwrites nothing, and takes an empty folder")
  func occupied() throws {
    let store = try Store(at: folder.store)
    try save(10, nonce: "a", in: store)
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
    try Data("mine".utf8).write(to: URL(filePath: target + "/note"))

    for place in [target, target + "/note", folder.store] {
      guard case .storage(let error)? = storeError({ try store.backup(to: place) }) else {
        Issue.record("\(place) was written")
        return
      }
      #expect(error.code == .system(errno: EEXIST))
      #expect("\(error)".contains("overwrites nothing"))
    }

    #expect(try names(in: target) == ["note"])
    #expect(try names(in: folder.path) == ["backup", "store"])
    try FileManager.default.removeItem(atPath: target + "/note")
    try store.backup(to: target)
    #expect(try nonces(at: target) == ["a"])
    try verifyAndClose(store)
  }

  @Test("a backup that is ended or has no room leaves nothing behind")
  func ended() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Account.self).save(
      (0..<3000).map { Account(number: $0, balance: 0, text: String(repeating: "x", count: 900)) })

    #expect(throws: CancellationError.self) {
      try store.backup(to: target) {
        if $0.completed >= 2_000_000 { throw CancellationError() }
      }
    }
    #expect(try names(in: folder.path) == ["store"])
    #expect(storeError { try store.backup(to: folder.path + "/none/backup") } != nil)
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    try verifyAndClose(store)
  }

  @Test("a backup or a restoration without room blames the disk that it writes to, not the store's")
  func fullTarget() throws {
    let store = try Store(at: folder.store)
    try save(100, nonce: "a", in: store)
    try store.backup(to: folder.path + "/source")
    func shortage(copying source: String, _ body: () throws -> Void) -> Shortage? {
      _ = CallFaults.watch(source) { $0 == .copy ? ENOSPC : nil }
      defer { CallFaults.stopWatching(source) }
      guard case .full(let shortage) = storeError(body) else { return nil }
      return shortage
    }

    let restored = folder.path + "/restored"
    let found = [
      target: shortage(copying: folder.store) { try store.backup(to: target) },
      restored: shortage(copying: folder.path + "/source") {
        try Store.restore(from: folder.path + "/source", to: restored)
      },
    ]

    for (path, shortage) in found {
      #expect(shortage?.path == path && shortage?.limit == .disk)
      #expect((shortage?.freeByteCount ?? 0) > 0 && (shortage?.neededByteCount ?? 0) > 0)
      #expect(shortage?.description.contains("The disk of the store at \(path) is full") == true)
    }
    try verifyAndClose(store)
  }

  @Test("what a backup that was killed has left is removed by the next one")
  func leftover() throws {
    let store = try Store(at: folder.store)
    try save(10, nonce: "a", in: store)
    let left = folder.path + "/.backup.larder-backup"
    try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
    try Data(repeating: 7, count: 9000).write(to: URL(filePath: left + "/data.mdb"))

    try store.backup(to: target)

    #expect(try names(in: folder.path) == ["backup", "store"])
    #expect(try nonces(at: target) == ["a"])
    try verifyAndClose(store)
  }

  @Test("what killed backups of other names have left is removed, and nothing else")
  func otherLeftovers() throws {
    let store = try Store(at: folder.store)
    try save(10, nonce: "a", in: store)
    func leave(_ name: String, _ files: [String]) throws {
      let left = folder.path + "/" + name
      try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
      for file in files {
        try Data(repeating: 7, count: 9000).write(to: URL(filePath: left + "/" + file))
      }
    }
    try leave(".monday.larder-backup", ["data.mdb", "larder.lock"])
    try leave(".tuesday.larder-backup", ["data.mdb", "lock.mdb", "larder.lock"])
    try leave(".running.larder-backup", ["data.mdb", "larder.lock"])
    try leave(".beginning.larder-backup", ["larder.lock"])
    try leave(".foreign.larder-backup", ["data.mdb", "larder.lock", "letter.txt"])
    try leave(".linked-to", ["data.mdb", "larder.lock"])
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/.link.larder-backup",
      withDestinationPath: folder.path + "/.linked-to")
    let running = open(folder.path + "/.running.larder-backup/larder.lock", O_RDWR | O_CLOEXEC)
    defer { close(running) }
    try #require(flock(running, LOCK_EX) == 0)

    try store.backup(to: target)

    #expect(
      try names(in: folder.path) == [
        ".beginning.larder-backup", ".foreign.larder-backup", ".link.larder-backup", ".linked-to",
        ".running.larder-backup", "backup", "store",
      ])
    #expect(try names(in: folder.path + "/.linked-to").count == 2)
    #expect(try nonces(at: target) == ["a"])
    try verifyAndClose(store)
  }

  // MARK: Restoring

  /// A store with "new" and a backup with "old" documents, both closed.
  private func makeBoth(_ count: Int = 500) throws {
    let store = try Store(at: folder.store)
    try save(count, nonce: "old", in: store)
    try store.backup(to: target)
    try save(count * 2, nonce: "new", in: store)
    try store.close()
  }

  @Test("a restored store is the backup, which stays as it is")
  func restore() throws {
    try makeBoth()
    let bytes = try contents(of: target + "/data.mdb")
    var steps: Set<String> = []

    let report = try Store.restore(
      from: URL(filePath: target), to: URL(filePath: folder.store)
    ) { progress in
      steps.insert("\(progress.phase)")
    }

    #expect(report.documentCount == 500)
    #expect(report.hasReplaced)
    #expect(steps.contains("copying"))
    #expect(try contents(of: target + "/data.mdb") == bytes)
    #expect(try nonces(at: folder.store) == ["old"])
    #expect(try names(in: folder.store) == ["data.mdb", "larder.lock", "lock.mdb"])
    #expect(try contents(of: folder.data).count == report.byteCount)
    #expect(mode(of: folder.data) == 0o600)
  }

  @Test("a backup is restored where there is no store, and not over something else")
  func restoreElsewhere() throws {
    try makeBoth()
    let new = folder.path + "/new"

    let report = try Store.restore(from: target, to: new)

    #expect(!report.hasReplaced)
    #expect(try nonces(at: new) == ["old"])
    let foreign = folder.path + "/foreign"
    try FileManager.default.createDirectory(atPath: foreign, withIntermediateDirectories: false)
    try Data("mine".utf8).write(to: URL(filePath: foreign + "/thesis.txt"))
    guard case .notAStore? = storeError({ _ = try Store.restore(from: target, to: foreign) }) else {
      Issue.record("it was restored")
      return
    }
    #expect(try names(in: foreign) == ["thesis.txt"])
  }

  @Test("a damaged backup is found out before anything is touched", arguments: [true, false])
  func damagedBackup(ofPages: Bool) throws {
    try makeBoth()
    let before = try contents(of: folder.data)
    var bytes = try contents(of: target + "/data.mdb")
    if ofPages {
      for place in 0..<64 { bytes[3 * 4096 + place] = 0xA5 }
    } else {
      let text = try #require(bytes.range(of: Data("old".utf8)))
      bytes[text.lowerBound] ^= 1
    }
    try replaceContents(of: target + "/data.mdb", by: bytes)

    let error = storeError { _ = try Store.restore(from: target, to: folder.store) }

    switch error {
    case .damagedFile?: #expect(ofPages)
    case .damagedBackup(_, let problems)?:
      #expect(!ofPages)
      #expect(problems.first?.contains("Note") == true)
    default: Issue.record("thrown was \(String(describing: error))")
    }
    #expect(try contents(of: folder.data) == before)
    #expect(try nonces(at: folder.store) == ["new"])
  }

  @Test("a store that is open is not restored over, here or in another process")
  func restoreOpen() throws {
    try makeBoth()
    let store = try Store(at: folder.store)
    func code() -> StorageFailure.Code? {
      guard
        case .storage(let error)? = storeError({
          _ = try Store.restore(from: target, to: folder.store)
        })
      else { return nil }
      return error.code
    }
    #expect(code() == .inUse)
    #expect(try store.repository(of: Note.self).count() == 1000)
    try store.close()
    let other = try OtherProcess("create", folder.store)
    _ = try other.expect("saved")
    #expect(code() == .inUse)
    #expect(other.finish().isEmpty)
    #expect(try nonces(at: folder.store) == ["new", "first"])
    // A backup cannot be restored over itself.
    let error = storeError { _ = try Store.restore(from: target, to: target) }
    guard case .storage(let failure)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect("\(failure)".contains("the backup itself is in this folder"))
    #expect(try nonces(at: target) == ["old"])
  }

  @Test("a backup that this process has open is not restored, and the error says so")
  func restoreRead() throws {
    try makeBoth()
    let backup = try Store(at: target)
    let error = storeError { _ = try Store.restore(from: target, to: folder.store) }
    guard case .storage(let failure)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.code == .inUse)
    #expect("\(failure)".contains("this process has the backup open"))
    try backup.close()
    try Store.restore(from: target, to: folder.store)
    #expect(try nonces(at: folder.store) == ["old"])
  }

  @Test("a restoration that is ended leaves the store as it was")
  func restoreEnded() throws {
    try makeBoth(3000)
    for phase in [StoreProgress.Phase.checking, .copying] {
      #expect(throws: CancellationError.self) {
        try Store.restore(from: target, to: folder.store) {
          if $0.phase == phase { throw CancellationError() }
        }
      }
      #expect(try names(in: folder.store).filter { $0.hasPrefix(".") } == [])
      #expect(try nonces(at: folder.store) == ["new"])
    }
  }

  @Test("a backup with more collections than a store has by default is restored")
  func restoreMany() throws {
    let options = try makeStoreOfMany(at: folder.store)
    let store = try Store(at: folder.store, options: options)
    try store.backup(to: target)
    try store.close()

    let report = try Store.restore(from: target, to: folder.path + "/restored")

    #expect(report.documentCount == 270)
    let restored = try Store(at: folder.path + "/restored", options: options)
    #expect(try restored.collectionNames().count == 270)
    try verifyAndClose(restored)
  }
}
