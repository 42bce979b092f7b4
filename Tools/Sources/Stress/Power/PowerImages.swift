import Foundation

/// A disk whose power can go at any moment.
protocol FailingDisk {
  mutating func apply(_ event: PowerRecord.Event) throws

  /// Puts what is left of it now into a folder, and lends that to `body`; it is gone afterwards.
  func withRemains(
    in folder: String, _ random: inout SeededGenerator, _ body: (String) throws -> Void) throws

  /// Puts the same into a folder that stays.
  func keepRemains(in folder: String, _ random: inout SeededGenerator) throws
}

/// Makes disks that lost power, and checks each.
///
/// Says `at N` before it opens the image with this number, so that whoever listens knows which one
/// ended the process; `bad N FAULT TEXT`, after which there are no more; and `end ACKED` at the end.
struct PowerImages<Disk: FailingDisk> {
  let record: PowerRecord
  let disk: Disk
  let seed: UInt64
  let folder: String
  let keep: String

  /// Images are numbered in the order of the moments at which the power goes.
  func run(count: Int, from first: Int) throws {
    var random = SeededGenerator(seed: seed)
    let moments = (0..<count).map { _ in
      Int.random(in: 0...record.events.count, using: &random)
    }.sorted()
    var disk = disk
    var history = PowerHistory()
    var done = 0
    for (number, moment) in moments.enumerated() {
      while done < moment {
        try disk.apply(record.events[done])
        if case .marked(let mark) = record.events[done] { history.read(mark) }
        done += 1
      }
      if number >= first, try !isSound(number, disk, history) { break }
    }
    say("end \(history.ackedCount)")
  }

  private func isSound(_ number: Int, _ disk: Disk, _ history: PowerHistory) throws -> Bool {
    let random = SeededGenerator(seed: seed ^ UInt64(number + 1) &* 0xD6E8_FEB8_6659_FD93)
    var used = random
    var verdict: PowerHistory.Verdict?
    try disk.withRemains(in: folder, &used) { place in
      say("at \(number)")
      var steps = random
      verdict = PowerChecker(folder: place).check(history, &steps)
    }
    guard let verdict else { return true }
    used = random
    try disk.keepRemains(in: keep + "/image-\(number)", &used)
    say("bad \(number) \(verdict.fault.rawValue) \(verdict.text)")
    return false
  }
}

/// The disk under one folder, on any file system: `power-images RECORD SEED COUNT FROM FOLDER KEEP`.
struct PowerImagesWorker: Worker {
  static let role = "power-images"

  static func run(_ arguments: [String]) throws {
    let record = try PowerRecord(arguments[0])
    let images = PowerImages(
      record: record, disk: PowerDisk(record.bytes), seed: UInt64(arguments[1]) ?? 0,
      folder: arguments[4], keep: arguments[5])
    try images.run(count: Int(arguments[2]) ?? 0, from: Int(arguments[3]) ?? 0)
  }
}

extension PowerDisk: FailingDisk {
  func withRemains(
    in folder: String, _ random: inout SeededGenerator, _ body: (String) throws -> Void
  ) throws {
    try keepRemains(in: folder, &random)
    try body(folder)
  }

  func keepRemains(in folder: String, _ random: inout SeededGenerator) throws {
    var survival = Survival(random)
    let image = image(&survival)
    let manager = FileManager.default
    try? manager.removeItem(atPath: folder)  // Where there was one before.
    try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (path, bytes) in image where path != MarkFile.name {
      let whole = folder + "/" + path
      if let bytes {
        let isLockTable = path.hasSuffix("/lock.mdb")
        let bytes = isLockTable ? lockTable(&random) : Restart.note(bytes, path)
        guard manager.createFile(atPath: whole, contents: Data(bytes)), chmod(whole, 0o600) == 0
        else { throw PowerRecord.Unreadable(description: "\(whole) cannot be written") }
      } else {
        try manager.createDirectory(atPath: whole, withIntermediateDirectories: false)
      }
    }
  }

  /// Nobody syncs LMDB's table of readers, which is written through a map: anything can be in it.
  private func lockTable(_ random: inout SeededGenerator) -> [UInt8] {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return []
    case 1: return [UInt8](repeating: 0, count: 8192)
    default:
      return (0..<1024).flatMap { _ in withUnsafeBytes(of: random.next()) { [UInt8]($0) } }
    }
  }
}

/// The power comes back to a system that has started anew, which a store's note must not take for
/// the one that it was open in.
enum Restart {
  static func note(_ bytes: [UInt8], _ path: String) -> [UInt8] {
    guard path.hasSuffix("larder.lock"), let bootID, let place = bytes.firstRange(of: bootID.utf8)
    else { return bytes }
    var bytes = bytes
    bytes.replaceSubrange(place, with: bootID.utf8.reversed())
    return bytes
  }

  /// The same in the files below a folder.
  static func renote(below folder: String) throws {
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder)
    where path.hasSuffix("larder.lock") {
      let url = URL(fileURLWithPath: folder + "/" + path)
      let bytes = [UInt8](try Data(contentsOf: url))
      let handle = try FileHandle(forWritingTo: url)
      defer { try? handle.close() }  // Written it is.
      try handle.write(contentsOf: Data(note(bytes, path)))
    }
  }

  private static let bootID: String? = {
    // Where there is none, the store cannot note it either.
    let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
    return text?.trimmingCharacters(in: .whitespacesAndNewlines)
  }()
}
