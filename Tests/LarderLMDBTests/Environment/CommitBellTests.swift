import Foundation
import LarderLMDB
import LarderTestKit
import Testing

// Elsewhere than on Linux every commit rings.
#if os(Linux)
  @Suite struct CommitBellTests {
    let folder = TestFolder()

    /// What stands where commits ring.
    private func rung() throws -> Int {
      let bytes = try contents(of: folder.opening).dropFirst(128).prefix(8)
      return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Listens as another process would, through a file of its own.
    private func ear() throws -> FileHandle {
      let ear = try #require(FileHandle(forReadingAtPath: folder.opening))
      // A program that is started meanwhile would listen, too.
      _ = fcntl(ear.fileDescriptor, F_SETFD, FD_CLOEXEC)
      // F_OFD_SETLK: of the open file, not of the process.
      _ = ask(ear, 37, F_RDLCK)
      return ear
    }

    private func stopListening(_ ear: FileHandle) throws {
      _ = ask(ear, 37, F_UNLCK)
      try ear.close()
    }

    /// Asks the kernel about the byte that those who listen share; gives what it answers with.
    private func ask(_ file: FileHandle, _ command: Int32, _ kind: Int32) -> Int32 {
      var lock = flock()
      lock.l_type = Int16(kind)
      lock.l_whence = Int16(SEEK_SET)
      (lock.l_start, lock.l_len) = (1 << 20 | 1, 1)
      #expect(fcntl(file.fileDescriptor, command, &lock) == 0)
      return Int32(lock.l_type)
    }

    @Test("each commit rings with its number in the lock file, and what is undone does not")
    func rings() throws {
      let environment = try Environment.open(at: folder.store)
      #expect(environment.bellPath == folder.opening)
      let ear = try ear()
      for number in 0..<3 {
        try environment.store(["key": "\(number)"])
        #expect(try rung() == (try environment.statistics().lastTransactionID))
      }
      let last = try rung()

      do {
        let transaction = try environment.beginWrite()
        _ = consume transaction
      }

      #expect(try rung() == last)
      try stopListening(ear)
      try environment.close()
    }

    @Test("a commit rings only while another process listens, and not for the one that makes it")
    func silent() throws {
      let environment = try Environment.open(at: folder.store)
      try environment.store(["key": "alone"])
      #expect(try rung() == 0)

      environment.listen(true)
      try environment.store(["key": "heard here alone"])
      #expect(try rung() == 0)

      let ear = try ear()
      try environment.store(["key": "heard elsewhere"])
      let last = try rung()
      #expect(try environment.statistics().lastTransactionID == last)

      try stopListening(ear)
      environment.listen(false)
      try environment.store(["key": "alone again"])
      #expect(try rung() == last)
      try environment.close()
    }

    @Test("who opened a store only to read is heard of by those who write")
    func readers() throws {
      let writer = try Environment.open(at: folder.store)
      try writer.store(["key": "value"])
      try writer.close()
      var options = Environment.Options()
      options.isReadOnly = true
      let reader = try Environment.open(at: folder.store, options: options)
      /// Whether a process that writes would ring.
      func isHeard() throws -> Bool {
        let file = try #require(FileHandle(forUpdatingAtPath: folder.opening))
        defer { try? file.close() }  // Nothing was written.
        return ask(file, 36, F_WRLCK) != F_UNLCK  // F_OFD_GETLK
      }
      #expect(try !isHeard())
      reader.listen(true)
      #expect(try isHeard())
      reader.listen(false)
      #expect(try !isHeard())
      reader.listen(true)
      try reader.close()
      #expect(try !isHeard())
    }
  }
#endif
