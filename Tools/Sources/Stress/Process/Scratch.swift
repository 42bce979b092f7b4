import Foundation

/// A folder in memory where there is one, for stores that are made and thrown away by the thousand;
/// removed when it is let go of.
final class Scratch {
  let path: String

  init(_ name: String) throws {
    let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()
    path = "\(base)/larder-stress-\(getpid())-\(name)"
    try? FileManager.default.removeItem(atPath: path)  // Of a process that had the same number.
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  var url: URL { URL(fileURLWithPath: path, isDirectory: true) }

  /// Puts what is in it where it stays.
  func keep(in folder: URL) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      try FileManager.default.copyItem(
        at: url.appendingPathComponent(name), to: folder.appendingPathComponent(name))
    }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)  // In a place for temporary files.
  }
}

/// Runs `body` for every number below `count`, on as many threads as there are processors, and adds
/// up what they saw; no more are begun once one is not clean, or has thrown.
func inLanes(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Tally) throws -> Tally {
  let lanes = Lanes(count)
  DispatchQueue.concurrentPerform(iterations: ProcessInfo.processInfo.activeProcessorCount) { _ in
    while let number = lanes.next() { lanes.add(Result { try body(number) }) }
  }
  return try lanes.result()
}

private final class Lanes: @unchecked Sendable {
  // Guard: the lock.
  private let lock = NSLock()
  private var begun = 0
  private var tally = Tally()
  private var error: (any Error)?
  private let count: Int

  init(_ count: Int) { self.count = count }

  func next() -> Int? {
    lock.withLock {
      guard begun < count, error == nil, tally.isClean else { return nil }
      begun += 1
      return begun - 1
    }
  }

  func add(_ result: Result<Tally, any Error>) {
    lock.withLock {
      switch result {
      case .success(let part): tally.add(part)
      case .failure(let failure): error = error ?? failure
      }
    }
  }

  func result() throws -> Tally {
    if let error { throw error }
    return tally
  }
}
