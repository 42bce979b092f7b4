#if os(Linux)
  import Foundation
  import LarderTestKit
  import Testing

  @testable import LarderLMDB

  @Suite("the lock file has its place on the disk")
  struct LockTableTests {
    let folder = TestFolder()

    private func options(readers: Int) -> Environment.Options {
      var options = Environment.Options()
      options.maximumReaderCount = readers
      return options
    }

    /// The file's bytes, and how many of them have a place on the disk.
    private func sizes() -> (all: Int, allocated: Int) {
      var status = stat()
      guard lstat(folder.lock, &status) == 0 else { return (0, 0) }
      return (Int(status.st_size), Int(status.st_blocks) * 512)
    }

    private func makeSparse(readers: Int) throws -> Int {
      let byteCount = LockTable.byteCount(maximumReaderCount: readers)
      unlink(folder.lock)
      let descriptor = Glibc.open(folder.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(descriptor) }
      try #require(ftruncate(descriptor, off_t(byteCount)) == 0)
      try #require(sizes() == (byteCount, 0))
      return byteCount
    }

    @Test(
      "a new one has a place for each reader slot, and no slot more than asked for",
      arguments: [1, 6, 61, 126, 510, 1000])
    func new(readers: Int) throws {
      let environment = try Environment.open(at: folder.store, options: options(readers: readers))

      #expect(sizes().all == LockTable.byteCount(maximumReaderCount: readers))
      #expect(sizes().allocated >= sizes().all)
      #expect(try environment.statistics().maximumReaderCount == readers)
    }

    @Test("one with holes is completed when the store is opened, to write or to read")
    func sparse() throws {
      try Environment.open(at: folder.store).close()
      for isReadOnly in [false, true] {
        let byteCount = try makeSparse(readers: 510)
        var options = Environment.Options()
        options.isReadOnly = isReadOnly
        let environment = try Environment.open(at: folder.store, options: options)

        #expect(sizes().all == byteCount)
        #expect(sizes().allocated >= byteCount)
        try environment.close()
      }
    }

    @Test("one of another size gets that of the first opener's options")
    func otherSize() throws {
      for readers in [510, 2000, 10, 510] {
        let environment = try Environment.open(at: folder.store, options: options(readers: readers))
        #expect(try environment.statistics().maximumReaderCount == readers)
        #expect(sizes().all == LockTable.byteCount(maximumReaderCount: readers))
        #expect(sizes().allocated >= sizes().all)
        try environment.close()
      }
    }

    @Test("of one in use the holes are filled, and neither its size nor a byte changes")
    func inUse() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let first = try Environment.open(at: folder.store)
        try first.store(["a": "1"])
        let snapshot = try first.beginRead()
        let lock = folder.lock
        let punched = try OtherProcess.run(
          "fallocate", "--punch-hole", "--offset", "16384", "--length", "16384", lock)
        #expect(punched.status == 0)
        func allocated() -> (all: Int64, allocated: Int64) {
          var status = stat()
          lstat(lock, &status)
          return (Int64(status.st_size), Int64(status.st_blocks) * 512)
        }
        #expect(allocated().allocated < allocated().all)
        let store = folder.store

        let report = try Child.report {
          var options = Environment.Options()
          options.maximumReaderCount = 5000
          let second = try Environment.open(at: store, options: options)
          guard try second.statistics().maximumReaderCount == 510 else { return 1 }
          // The snapshot's, and the one that is asked with.
          guard try second.statistics().readersInUse == 2 else { return 2 }
          try second.close()
          return 0
        }

        #expect(report == 0)
        #expect(allocated().all == 32_768 && allocated().allocated >= 32_768)
        for number in 0..<20 { try first.store(["a": "\(number)"]) }
        #expect(try snapshot.value("a") == "1")
      }
    }
  }
#endif
