import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// What a watcher was told of and could not look at.
@Suite(.timeLimit(.minutes(20))) struct RefusedLookTests {
  let folder = TestFolder()

  private func note(_ id: String) -> Note { Note(id: id, nonce: "n", batchCount: 1) }

  private func watcher(
    _ store: Store, at seat: WatchSeat, leave: @escaping @Sendable () -> Void = {}
  ) -> Watcher<ResultChange<Note>> {
    let selection = Note.all.selection
    return Watcher(ResultWatch(store, selection, RowReader(selection)), at: seat, leave: leave)
  }

  @Test(
    "a change that a suspension kept a watcher from seeing comes after it, whatever is told before")
  func suspended() throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try notes.save(note("a"))
    let seat = WatchSeat()
    let watcher = watcher(store, at: seat)
    var list: [Note] = []
    list.apply(try #require(try watcher.look()))
    let start = try store.read { $0.sequence }
    try notes.save(note("b"))
    seat.signal(after: start)
    try store.suspend(timeout: .seconds(300))

    let refused = try watcher.look()
    try store.resume()
    // As the hub does for a commit that comes before everybody is told of the end of the suspension.
    try notes.save(note("c"))
    seat.signal(after: start + 1)

    #expect(refused == nil)
    list.apply(try #require(try watcher.look()))
    #expect(list == [note("a"), note("b"), note("c")])
    #expect(try watcher.look() == nil)
    try verifyAndClose(store)
  }

  @Test("watchers and consumers outlive a read that keeps the map from becoming larger")
  func outgrown() async throws {
    var options = StoreOptions()
    options.mapByteCount = 256 << 10
    let store = try Store(at: folder.store, options: options)
    let notes = store.repository(of: Note.self)
    try await notes.save(note("a"))
    var counts = notes.watchCount(Note.all).makeAsyncIterator()
    #expect(try await counts.next() == 1)
    var changes = store.changes(for: "counting").makeAsyncIterator()
    _ = try await changes.next()
    store.engine.environment.patience.withLock { $0.drainSeconds = 0.01 }
    let (isReading, mayEnd) = (Flag(), Flag())
    let reading = OnThread {
      try store.read { _ in
        isReading.set()
        while !mayEnd.isSet { usleep(1000) }
      }
    }
    while !isReading.isSet { usleep(1000) }
    let other = try OtherProcess("hammer", folder.store, "x", "100")
    _ = try other.expect("open")
    other.goOn()
    for _ in 0..<100 { _ = try other.expect("saved") }
    _ = try other.expect("done")
    _ = other.finish()
    guard case .storage(let failure)? = storeError({ try store.read { _ in } }) else {
      Issue.record("the map was large enough")
      return
    }
    #expect(failure.code == .mapResized)

    // Both look in vain at first.
    let ending = OnThread {
      usleep(700_000)
      mayEnd.set()
    }
    var count = 0
    while count < 301 { count = try #require(try await counts.next()) }
    var changed: Set<Value> = []
    while changed.count < 300 {
      let batch = try #require(try await changes.next())
      changed.formUnion(batch.changes.filter { $0.collection == "Note" }.map(\.key))
      try await store.write { tx in try tx.acknowledge(batch) }
    }
    try ending.value()
    try reading.value()
    try verifyAndClose(store)
  }

  @Test("a suspension that fails has those look again whom it has refused")
  func failedSuspension() throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try notes.save(note("a"))
    let (hub, path) = (store.engine.watchHub, store.engine.environment.folder)
    let seat = hub.sit(
      in: store, WatchInterest(ModelForm<Note, Note>.documents, Note.all.selection.filter))
    let watcher = watcher(store, at: seat) { hub.leave(seat) }
    var list: [Note] = []
    list.apply(try #require(try watcher.look()))
    try notes.save(note("b"))
    // On this thread there are no calls but those of the suspension, which lets nobody else in.
    let thread = pthread_self()
    let refused = Locked<Bool?>(nil)
    _ = CallFaults.watch(path) { call in
      guard pthread_equal(pthread_self(), thread) != 0, call == .begin
      else { return nil }
      let found = Result { try watcher.look() }
      refused.withLock { $0 = if case .success(nil) = found { true } else { false } }
      return EIO
    }

    let error = storeError { try store.suspend(timeout: .seconds(300)) }
    CallFaults.stopWatching(path)

    #expect(error != nil && !store.isSuspended)
    #expect(refused.withLock { $0 } == true)
    #expect(seat.state.withLock { $0.isPending })
    list.apply(try #require(try watcher.look()))
    #expect(list == [note("a"), note("b")])
    try verifyAndClose(store)
  }

  #if os(Linux)
    /// Work that takes as long as the test wants.
    private struct HeldWork: WatchWork {
      let body: @Sendable () -> Void

      mutating func next(skippingTo position: UInt64) throws -> Int? {
        body()
        return 1
      }
    }

    @Test("a mark is taken by the task that looks, and not by one that waits for its turn")
    func turn() throws {
      let seat = WatchSeat()
      let (begun, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let work = HeldWork {
        begun.signal()
        goesOn.wait()
      }
      let watcher = Watcher(work, at: seat) {}
      let first = OnThread { try watcher.look() }
      begun.wait()
      seat.signal(after: 10)
      let (place, isKnown) = (Locked(""), DispatchSemaphore(value: 0))
      let second = OnThread {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        place.withLock { $0 = "/proc/\(path ?? "")/syscall" }
        isKnown.signal()
        return try watcher.look()
      }
      isKnown.wait()
      let path = place.withLock { $0 }
      var isWaiting = false
      for _ in 0..<120_000 where !isWaiting {
        usleep(1000)
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        isWaiting = ["202 ", "98 "].contains { text.hasPrefix($0) }
      }

      let isPending = seat.state.withLock { $0.isPending }

      #expect(isWaiting && isPending)
      goesOn.signal()
      goesOn.signal()
      #expect(try first.value() == 1)
      #expect(try second.value() == 1)
      #expect(seat.state.withLock { !$0.isPending })
    }
  #endif
}
