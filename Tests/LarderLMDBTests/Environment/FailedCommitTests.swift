#if os(Linux)
  import CLarderLMDB
  import Foundation
  import LarderTestKit
  import Synchronization
  import Testing

  @testable import LarderLMDB

  @Suite("a commit whose last page cannot be written")
  struct FailedCommitTests {
    let folder = TestFolder()

    /// Has the descriptor that LMDB writes its first two pages by lead to a disk that is full, while
    /// `body` runs.
    private func withFullDisk(_ body: () throws -> Void) throws {
      let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      let meta = names.compactMap { Int32($0) }.first { descriptor in
        let target = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/\(descriptor)")
        return target?.hasSuffix(folder.data) == true
          && fcntl(descriptor, F_GETFL) & O_DSYNC == O_DSYNC
      }
      let descriptor = try #require(meta)
      let kept = dup(descriptor)
      let full = open("/dev/full", O_RDWR | O_CLOEXEC)
      try #require(kept >= 0 && full >= 0)
      dup2(full, descriptor)
      defer {
        dup2(kept, descriptor)
        close(kept)
        close(full)
      }
      try body()
    }

    @Test("nothing of it is kept, and reads and writes go on")
    func goesOn() throws {
      let environment = try Environment.open(at: folder.store)
      let named = try #require(try environment.database(named: "named", create: true))
      for round in 0..<3 {
        try environment.store(["a": "before"], in: named)

        try withFullDisk {
          #expect(throws: LMDBError.self) { try environment.store(["a": "lost"], in: named) }
        }

        #expect(try environment.read("a", in: named) == "before")
        try environment.store(["b": "\(round)"], in: named)
        #expect(try environment.read("b", in: named) == "\(round)")
        let reopened = environment.reopenings.load(ordering: .relaxed)
        #expect(reopened == round + 1)
      }
      try environment.close()
      let again = try Environment.open(at: folder.store)
      let database = try #require(try again.database(named: "named", create: false))
      #expect(try again.read("a", in: database) == "before")
    }

    @Test("a snapshot that is held sees what it saw, and whoever waits for its end gives up")
    func held() throws {
      let environment = try Environment.open(at: folder.store)
      try environment.store(["a": "before"])
      do {
        let held = try environment.beginRead()
        try withFullDisk {
          #expect(throws: LMDBError.self) { try environment.store(["a": "lost"]) }
        }

        #expect(failure { _ = try environment.read("a") }?.code == .panic)
        #expect(try held.value("a") == "before")
      }

      #expect(try environment.read("a") == "before")
      try environment.store(["a": "after"])
      #expect(try environment.read("a") == "after")
    }

    @Test("threads that read and write meanwhile lose nothing")
    func threads() throws {
      let environment = try Environment.open(at: folder.store)
      environment.patience.withLock { $0.drainSeconds = .infinity }
      try environment.store(["n": "0"])
      let isDone = Locked(false)
      // LMDB must not be opened again while one of its descriptors leads elsewhere.
      let reading = DispatchQueue(label: "reading", attributes: .concurrent)
      let readers = (0..<4).map { _ in
        OnThread {
          while !isDone.withLock({ $0 }) {
            let value = try reading.sync { try environment.read("n") }
            guard Int(value ?? "") != nil else { throw CocoaError(.featureUnsupported) }
          }
        }
      }
      var number = 0
      for round in 0..<30 {
        if round % 3 == 2 {
          try reading.sync(flags: .barrier) {
            try withFullDisk {
              #expect(throws: LMDBError.self) { try environment.store(["n": "x"]) }
            }
          }
        } else {
          number += 1
          try environment.store(["n": "\(number)"])
        }
        #expect(try environment.read("n") == "\(number)")
      }
      isDone.withLock { $0 = true }
      for reader in readers { try reader.value() }
      try environment.close()
    }
  }
#endif
