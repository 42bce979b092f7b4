import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// How waiting to write ends.
@Suite(.timeLimit(.minutes(20))) struct WriteTimeoutTests {
  let folder = TestFolder()

  private func open(_ timeout: Duration?) throws -> Store {
    var options = StoreOptions()
    options.writeTimeout = timeout
    let store = try Store(at: folder.store, options: options)
    // Its first opening alone may wait for nobody.
    return store
  }

  private func obstacle(_ body: () async throws -> Void) async -> WriteObstacle? {
    do {
      try await body()
      return nil
    } catch StoreError.writeTimedOut(_, let obstacle) {
      return obstacle
    } catch {
      Issue.record(error)
      return nil
    }
  }

  @Test("a write that is cancelled in the line returns at once, and is not written")
  func cancelled() async throws {
    let store = try open(nil)
    let contacts = store.repository(of: Contact.self)
    try await contacts.save(Contact(id: "first"))
    try await together(store) { wait in
      let saving = Task { _ = try await contacts.save(Contact(id: "cancelled")) }
      let flushing = Task { try await store.flush() }
      await wait(2)
      saving.cancel()
      flushing.cancel()
      // The line is held meanwhile.
      await #expect(throws: CancellationError.self) { try await saving.value }
      await #expect(throws: CancellationError.self) { try await flushing.value }
      #expect(store.engine.writer.waitingCount == 0)
      #expect(store.engine.room.waitingByteCount == 0)
    }
    try await contacts.save(Contact(id: "last"))
    #expect(try contacts.count() == 2)
    try store.close()
  }

  #if os(Linux)
    @Test("a thread's wait for its turn goes by a clock that nobody sets")
    func clock() async throws {
      let store = try open(.seconds(600))
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first"))
      let probe = Locked<ThreadProbe?>(nil)
      let hasWaited = Flag()
      var saving: OnThread<Void>?
      try await together(store) { wait in
        saving = OnThread {
          let own = try ThreadProbe()
          probe.withLock { $0 = own }
          try contacts.save(Contact(id: "second"))
          hasWaited.set()
        }
        await wait(1)
        #expect(probe.withLock { $0 }?.clockOfWait() == CLOCK_MONOTONIC)
        #expect(!hasWaited.isSet)
      }
      while !hasWaited.isSet { await Task.yield() }
      try saving?.value()
      try store.close()
    }
  #endif

  @Test("opening waits for another process no longer than it may, and says for which")
  func opening() throws {
    try open(nil).close()
    let other = Glibc.open(folder.opening, O_RDWR | O_CLOEXEC)
    defer { close(other) }
    // Of this opening of the file, as another process would have it.
    #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    var options = StoreOptions()
    options.openTimeout = .milliseconds(20)
    let path = folder.store

    let error = #expect(throws: StoreError.self) { try Store(at: path, options: options) }

    let holder = CompetingProcess(processID: getpid(), isStopped: false)
    #expect(error == .openTimedOut(path: path, waitedFor: holder))
    #expect(error?.description.contains("(process \(getpid())). Try again") == true)
    #expect(flock(other, LOCK_UN) == 0)
    let store = try Store(at: path, options: options)
    // It belongs to each opening.
    try Store(at: path).close()
    try store.close()
    options.openTimeout = .seconds(-1)
    #expect(throws: StoreError.invalidOption("openTimeout", reason: "it must be 0 or more")) {
      try Store(at: path, options: options)
    }
  }

  @Test("writes that wait for others of this process for too long say so, and are not written")
  func line() async throws {
    let store = try open(.milliseconds(50))
    let contacts = store.repository(of: Contact.self)
    try await contacts.save(Contact(id: "first"))
    try await together(store) { wait in
      let saving = await obstacle { _ = try await contacts.save(Contact(id: "task")) }
      #expect(saving == .thisProcess)
      #expect(await obstacle { try await store.flush() } == .thisProcess)
      let thread = OnThread { try store.write { try $0.save(Contact(id: "thread")) } }
      #expect(await obstacle { _ = try thread.value() } == .thisProcess)
      #expect(store.engine.writer.waitingCount == 0)
    }
    // The thread that held the line may need longer to leave it than a write waits.
    while await obstacle({ _ = try await contacts.save(Contact(id: "last")) }) != nil {}
    #expect(try contacts.count() == 2)
    try store.close()
  }

  @Test(
    "a write that has nothing before it is written, however short the time to wait is",
    arguments: [Duration.zero, .microseconds(100)])
  func shortTime(_ timeout: Duration) async throws {
    let store = try open(timeout)
    let contacts = store.repository(of: Contact.self)
    func saveHere(_ id: String) throws { try contacts.save(Contact(id: id)) }
    try saveHere("first")
    let count = repetitions(200)
    for number in 0..<count {
      try await contacts.save(Contact(id: "task-\(number)"))
      if number % 5 == 0 { try await store.flush() }
      // Right behind a task's, which may not have passed the line on.
      try saveHere("thread-\(number)")
    }
    #expect(try contacts.count() == 2 * count + 1)
    try store.close()
  }

  #if os(Linux)
    @Test("writes that wait for another process say for which, end, and go on behind it")
    func otherProcess() async throws {
      let store = try open(.milliseconds(100))
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first"))
      let other = try OtherProcess("hold-writer", folder.store)
      _ = try other.expect("holding")
      let expected = WriteObstacle.otherProcess(
        CompetingProcess(processID: other.id, isStopped: false))

      #expect(await obstacle { _ = try await contacts.save(Contact(id: "task")) } == expected)
      let thread = OnThread { try store.write { try $0.save(Contact(id: "thread")) } }
      #expect(await obstacle { _ = try thread.value() } == expected)
      // Reads wait for nobody.
      #expect(try contacts.count() == 1)

      other.goOn()
      _ = try other.expect("saved")
      // The turn may take its time to come back.
      while await obstacle({ _ = try await contacts.save(Contact(id: "last")) }) != nil {}
      #expect(try contacts.count() == 2)
      try store.close()
    }

    @Test(
      "a write that waits for another process can be cancelled, and says after a while what it waits for"
    )
    func cancelledBeside() async throws {
      var options = StoreOptions()
      let events = Locked<[LogEvent]>([])
      options.log = { event in events.withLock { $0.append(event) } }
      let store = try Store(at: folder.store, options: options)
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first"))
      let other = try OtherProcess("hold-writer", folder.store)
      _ = try other.expect("holding")
      func told() -> LogEvent? {
        events.withLock { $0.first { $0.message == "a write waits for another process" } }
      }

      let saving = Task { _ = try await contacts.save(Contact(id: "cancelled")) }
      #expect(try await eventually { told() != nil })
      #expect(told()?.metadata["process"] == "\(other.id)")
      saving.cancel()
      await #expect(throws: CancellationError.self) { try await saving.value }

      other.kill()
      try await contacts.save(Contact(id: "last"))
      #expect(try contacts.count() == 2)
      try store.close()
    }

    @Test("a backup holds all of a file that another process enlarges, however small the map is")
    func backupBesideGrowth() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        try Store(at: folder.store).close()
        let other = try OtherProcess("write", folder.store)
        _ = try other.expect("open")
        var options = StoreOptions()
        options.mapByteCount = 64 << 10
        for number in 0..<repetitions(3) {
          let store = try Store(at: folder.store, options: options)
          let (before, mapped) = try (
            store.read { $0.sequence }, store.statistics().mapByteCount
          )
          // Beyond what this process has mapped, which reads nothing meanwhile.
          while try contents(of: folder.data).count <= mapped { _ = other.line() }
          let backup = folder.url.appending(path: "backup \(number)")
          try store.backup(to: backup)
          try store.close()
          let copy = try Store(at: backup)
          #expect(try copy.read { $0.sequence } >= before)
          try verifyAndClose(copy)
        }
        other.kill()
      }
    }

    @Test("a store that is closed while others read and another process enlarges it stays whole")
    func closingBesideGrowth() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        try Store(at: folder.store).close()
        let other = try OtherProcess("write", folder.store)
        _ = try other.expect("open")
        var options = StoreOptions()
        options.mapByteCount = 64 << 10
        for _ in 0..<repetitions(40) {
          let store = try Store(at: folder.store, options: options)
          let readers = Threads(4) { _ in
            while true {
              do {
                _ = try store.read { $0.sequence }
              } catch StoreError.closed {
                return
              } catch StoreError.storage(let error) where error.code == .mapResized {
                continue
              }
            }
          }
          usleep(3000)
          while true {
            do { try store.close() } catch { continue }
            break
          }
          try readers.join()
        }
        other.kill()
      }
    }
  #endif
}
