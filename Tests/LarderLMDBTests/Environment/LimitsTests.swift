import Foundation
import LarderLMDB
import LarderTestKit
import Testing

@Suite("limits of a store")
struct LimitsTests {
  let folder = TestFolder()

  @Test("more snapshots than reader slots are refused, and fewer work again")
  func readersFull() throws {
    var options = Environment.Options()
    options.maximumReaderCount = 2
    let environment = try Environment.open(at: folder.store, options: options)
    do {
      let one = try environment.beginRead()
      let two = try environment.beginRead()
      let error = failure { _ = try environment.beginRead() }
      #expect(error?.code == .readersFull)
      #expect(error?.detail.contains("2") == true)
      _ = (one.id, two.id)
    }
    _ = try environment.beginRead()
    #expect(try environment.statistics().maximumReaderCount == 2)
  }

  @Test("the reader slots of a process that died are taken back when none is left")
  func deadReaders() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      var options = Environment.Options()
      options.maximumReaderCount = 2
      let environment = try Environment.open(at: folder.store, options: options)
      let store = folder.store
      let child = try Child {
        let own = try Environment.open(at: store, options: options)
        let one = try own.beginRead()
        let two = try own.beginRead()
        _ = (one.id, two.id)
        _exit(0)
      }
      #expect(child.report() == nil)
      child.kill()

      #expect(try environment.read("a") == nil)
      #expect(try environment.checkReaders() == 0)
    }
  }

  @Test("checking readers counts the slots that dead processes held")
  func checkReaders() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let environment = try Environment.open(at: folder.store)
      let store = folder.store
      let child = try Child {
        let own = try Environment.open(at: store)
        let one = try own.beginRead()
        _ = one.id
        _exit(0)
      }
      #expect(child.report() == nil)
      child.kill()

      #expect(try environment.checkReaders() == 1)
      #expect(try environment.checkReaders() == 0)
    }
  }

  @Test("a store that another process enlarged is taken on when nobody else reads")
  func mapResized() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let environment = try openSmall(at: folder.store)
      let store = folder.store
      try environment.store(["a": "1"])
      try enlarge(store, by: 8 << 20)

      do {
        // One pooled snapshot began before; a fresh one must not move the map under it.
        #expect(try environment.read("large")?.count == 8 << 20)
        #expect(try (16 << 20..<18 << 20).contains(environment.statistics().mapByteCount))
        try environment.store(["b": "2"])
      }
    }
  }

  @Test("a store that another process enlarged is refused while a snapshot is held")
  func mapResizedInUse() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let environment = try openSmall(at: folder.store)
      let store = folder.store
      try environment.store(["a": "1"])
      do {
        let held = try environment.beginRead()
        try enlarge(store, by: 8 << 20)

        #expect(code { _ = try environment.beginRead() } == .mapResized)
        #expect(code { _ = try environment.beginWrite() } == .mapResized)
        #expect(try held.value("a") == "1")
      }
      try environment.store(["b": "2"])
      #expect(try environment.read("large")?.count == 8 << 20)
    }
  }

  @Test("a snapshot that renews takes on the size that another process gave the store")
  func mapResizedRenewing() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let environment = try openSmall(at: folder.store)
      let store = folder.store
      var snapshot = try environment.beginRead()
      try enlarge(store, by: 8 << 20)
      #expect(try snapshot.value("large") == nil)

      try snapshot.renew()

      #expect(try snapshot.value("large")?.count == 8 << 20)
    }
  }

  @Test("where there are no addresses for a store that another process enlarged, the error says so")
  func mapResizedWithoutAddresses() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let environment = try openSmall(at: folder.store)
      let store = folder.store
      try environment.store(["a": "1"])
      try enlarge(store, by: 96 << 20)

      var limits = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limits)
      let before = limits.rlim_cur
      limits.rlim_cur = try addressByteCount() + (32 << 20)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limits) == 0)
      let refused = LMDBError.Code.system(errno: ENOMEM)
      #expect(code { _ = try environment.beginRead() } == refused)
      #expect(code { _ = try environment.beginWrite() } == refused)

      limits.rlim_cur = before
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limits) == 0)
      #expect(try environment.read("large")?.count == 96 << 20)
    }
  }

  @Test("a map that the address space refuses is halved until it fits")
  func mapHalved() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let path = folder.store
      let report = try Child.report {
        // Room for what the process has plus a little over four GiB.
        let limit = try addressByteCount() + (9 << 29)
        var limits = rlimit(rlim_cur: limit, rlim_max: limit)
        guard setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limits) == 0 else { return 1 }
        let environment = try Environment.open(at: path)
        try environment.store(["a": "1"])
        let map = try environment.statistics().mapByteCount
        return map == 1 << 32 || map == 1 << 31 ? 0 : 2
      }
      #expect(report == 0)
      #expect(try Environment.open(at: path).statistics().mapByteCount == 1 << 37)
    }
  }

  @Test("a full map ends the transaction alone: nothing of it is kept and the next one works")
  func mapFull() throws {
    var small = Environment.Options()
    small.mapByteCount = 1 << 20
    let environment = try Environment.open(at: folder.store, options: small)
    try environment.store(["a": "1"])
    do {
      var transaction = try environment.beginWrite()
      let error = failure {
        try transaction.put(String(repeating: "x", count: 2 << 20), "large")
      }
      #expect(error?.code == .mapFull)
      #expect(error?.path == environment.folder)
      #expect(error?.detail.contains("\(1 << 20)") == true)
      #expect(code { try transaction.put("1", "b") } == .badTransaction)
    }
    try environment.store(["b": "2"])
    #expect(try environment.read("large") == nil)
  }

  @Test("a key longer than LMDB takes is refused with its length, and the transaction goes on")
  func longKey() throws {
    let environment = try Environment.open(at: folder.store)
    var transaction = try environment.beginWrite()
    let long = String(repeating: "k", count: 512)

    let error = failure { try transaction.put("1", long) }

    #expect(error?.code == .badValueSize)
    #expect(error?.detail.contains("512") == true)
    #expect(code { try transaction.put("1", "") } == .badValueSize)
    try transaction.put("1", String(repeating: "k", count: 511))
    #expect(try transaction.value(long) == nil)
    try transaction.commit()
  }

  @Test("an empty value is stored and lent as an empty value")
  func emptyValue() throws {
    let environment = try Environment.open(at: folder.store)
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    var transaction = try environment.beginWrite()
    try withBytes("a") { try transaction.put(nothing, for: $0, in: .main) }
    #expect(try transaction.value("a") == "")
    #expect(code { _ = try transaction.withValue(for: nothing, in: .main) { _ in } } != nil)
    try transaction.commit()
    #expect(try environment.read("a") == "")
  }
}

/// Opens a store with a map of one MiB.
private func openSmall(at path: String) throws -> Environment {
  var options = Environment.Options()
  options.mapByteCount = 1 << 20
  return try Environment.open(at: path, options: options)
}

/// Has another process, with a map of one GiB, store a value of so many bytes under `large`.
private func enlarge(_ path: String, by byteCount: Int) throws {
  let report = try Child.report {
    var options = Environment.Options()
    options.mapByteCount = 1 << 30
    let own = try Environment.open(at: path, options: options)
    try own.store(["large": String(repeating: "x", count: byteCount)])
    return 0
  }
  #expect(report == 0)
}

/// The addresses that this process has taken, in bytes.
private func addressByteCount() throws -> rlim_t {
  let pages =
    try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    .split(separator: " ").first.flatMap { rlim_t($0) } ?? 0
  return pages * 4096
}
