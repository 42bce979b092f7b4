import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

/// What waits to be written holds a bounded amount of memory.
@Suite(.timeLimit(.minutes(20))) struct WriteRoomTests {
  let folder = TestFolder()
  static let limit = 40_000
  /// What one of the saves below takes in the line, at least.
  static let saveByteCount = 10_000

  private func open() throws -> Store {
    var options = StoreOptions()
    options.maximumWaitingByteCount = Self.limit
    let store = try Store(at: folder.store, options: options)
    try store.repository(of: Account.self).save(account(0))
    return store
  }

  private func account(_ number: Int) -> Account {
    Account(number: number, balance: 0, text: String(repeating: "x", count: Self.saveByteCount))
  }

  @Test("saves that come while too much waits stand back, and all are kept in the end")
  func standingBack() async throws {
    let store = try open()
    let accounts = store.repository(of: Account.self)
    let count = 60
    let largest = Locked(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      try await together(store) { _ in
        for number in 1...count {
          group.addTask {
            _ = try await accounts.save(account(number))
            largest.withLock { $0 = max($0, store.engine.room.waitingByteCount) }
          }
        }
        while store.engine.room.waiterCount + store.engine.writer.waitingCount < count {
          await Task.yield()
        }
        // As many as processors may have found room at the same moment.
        let processors = ProcessInfo.processInfo.activeProcessorCount
        #expect(store.engine.writer.waitingCount <= 4 + processors)
        #expect(store.engine.room.waitingByteCount >= Self.limit)
      }
      try await group.waitForAll()
    }

    #expect(try accounts.count() == count + 1)
    #expect(store.engine.room.waitingByteCount == 0)
    #expect(store.engine.room.waiterCount == 0)
    // Afterwards one at a time is let in, each at most the bound and itself.
    let processors = ProcessInfo.processInfo.activeProcessorCount
    let most = Self.limit + (1 + processors) * (Self.saveByteCount + 2048)
    #expect(largest.withLock { $0 } <= most)
    try verifyAndClose(store)
  }

  @Test("of those who wait for room one is let in at a time, in their order")
  func oneAtATime() async throws {
    let room = WriteRoom(byteCount: 10)
    let entries = Locked<[(number: Int, entry: RoomEntry)]>([])
    room.take(10)
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<5 {
      tasks.append(
        Task {
          let entry = try await room.enter()
          entries.withLock { $0.append((number, entry)) }
        })
      while room.waiterCount < number + 1 { await Task.yield() }
    }
    for number in 0..<5 {
      // Several make room at once, and what the one who was let in will bring is not known.
      room.giveBack(10)
      room.giveBack(0)
      room.giveBack(0)
      #expect(room.waiterCount == 4 - number)
      try await tasks[number].value
      #expect(entries.withLock { $0.map(\.number) } == [number])
      room.take(10)
      entries.withLock { $0.removeLast() }.entry.end()
      #expect(room.waiterCount == 4 - number)
    }
    // The first come is let in at once where there is room.
    room.giveBack(10)
    try await room.enter().end()
    #expect(room.waitingByteCount == 0)
  }

  @Test("a save that is cancelled while it waits for room never writes, and the others do")
  func cancelled() async throws {
    let store = try open()
    let accounts = store.repository(of: Account.self)
    var tasks: [Task<SaveReport, any Error>] = []
    try await together(store) { _ in
      for number in 1...20 { tasks.append(Task { try await accounts.save(account(number)) }) }
      while store.engine.room.waiterCount + store.engine.writer.waitingCount < 20 {
        await Task.yield()
      }
      let waiting = store.engine.room.waiterCount
      #expect(waiting > 5)
      for task in tasks[..<10] { task.cancel() }
      // They leave although the line is held.
      while store.engine.room.waiterCount > 10 { await Task.yield() }
    }
    var cancelled = 0
    for task in tasks[..<10] {
      do { _ = try await task.value } catch is CancellationError { cancelled += 1 }
    }
    for task in tasks[10...] { #expect(try await task.value.inserted == 1) }

    #expect(cancelled == 10)
    #expect(try accounts.count() == 11)
    #expect(store.engine.room.waitingByteCount == 0)
    try verifyAndClose(store)
  }

  @Test("a save that is refused once it is let in makes room for the next")
  func refused() async throws {
    let store = try open()
    let notes = store.repository(of: Note.self)
    try await notes.save(Note(id: "first", nonce: "", batchCount: 1))
    let accounts = store.repository(of: Account.self)
    let tooLong = String(repeating: "k", count: 300)
    try await withThrowingTaskGroup(of: Void.self) { group in
      try await together(store) { _ in
        for number in 1...10 {
          group.addTask { _ = try await accounts.save(account(number)) }
        }
        while store.engine.room.waiterCount < 1 { await Task.yield() }
        for _ in 0..<10 {
          group.addTask {
            await #expect(throws: StoreError.self) {
              try await notes.save(Note(id: tooLong, nonce: "", batchCount: 1))
            }
          }
        }
        while store.engine.room.waiterCount + store.engine.writer.waitingCount < 20 {
          await Task.yield()
        }
      }
      try await group.waitForAll()
    }

    #expect(try accounts.count() == 11)
    #expect(try notes.count() == 1)
    #expect(store.engine.room.waiterCount == 0)
    try verifyAndClose(store)
  }

  @Test("flush returns after the saves that waited for room before it")
  func flushed() async throws {
    let store = try open()
    let accounts = store.repository(of: Account.self)
    var flush: Task<Int, any Error>?
    try await withThrowingTaskGroup(of: Void.self) { group in
      try await together(store) { _ in
        for number in 1...20 {
          group.addTask { _ = try await accounts.save(account(number)) }
        }
        while store.engine.room.waiterCount + store.engine.writer.waitingCount < 20 {
          await Task.yield()
        }
        let waiting = store.engine.room.waiterCount
        flush = Task {
          try await store.flush()
          return try accounts.count()
        }
        while store.engine.room.waiterCount == waiting { await Task.yield() }
      }
      try await group.waitForAll()
    }

    #expect(try await flush?.value == 21)
    try verifyAndClose(store)
  }

  @Test("closing tells those who wait for room, or keeps what they save")
  func closing() async throws {
    let store = try open()
    let accounts = store.repository(of: Account.self)
    var tasks: [Task<Bool, any Error>] = []
    try await together(store) { _ in
      for number in 1...20 {
        tasks.append(
          Task {
            do {
              return try await accounts.save(account(number)).inserted == 1
            } catch StoreError.closed {
              return false
            }
          })
      }
      while store.engine.room.waiterCount + store.engine.writer.waitingCount < 20 {
        await Task.yield()
      }
      try store.close()
    }
    var kept = 0
    for task in tasks where try await task.value { kept += 1 }

    let again = try open()
    #expect(try again.repository(of: Account.self).count() == kept + 1)
    try verifyAndClose(again)
  }
}
