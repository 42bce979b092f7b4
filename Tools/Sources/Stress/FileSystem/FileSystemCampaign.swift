import Foundation

/// As ``PowerCampaign``, with a real file system between the library and the disk.
///
/// A disk of ours (`disk.c`) writes down what the file system writes, and when it asks for that to
/// be kept. Disks that lost power are made of this record, mounted, and their stores opened.
struct FileSystemCampaign: Campaign {
  static let name = "filesystem"
  static let summary = "the same under ext4, xfs and btrfs, on a disk that is recorded"
  static let mutants: [Mutation] = [.worker("no-fdatasync")]

  static func obstacle() -> String? {
    if let obstacle = Mounting.obstacle() {
      return "\(obstacle); run Tools/stress filesystem where there is"
    }
    guard FileSystemKind.ext4.isAvailable else {
      return "needs \(FileSystemKind.ext4.maker); run Tools/stress filesystem, which installs it"
    }
    return nil
  }

  func run(_ trial: Trial) throws -> Tally {
    let scratch = try Scratch("filesystem-\(trial.mutation?.name ?? "")")
    let recorder = try Recorder(in: scratch.path)
    let disk = try RecordedDisk.compile(in: scratch.path)
    var tally = Tally()
    for kind in FileSystemKind.allCases {
      let imageCount =
        kind == .ext4
        ? trial.cycles(quick: 60, nightly: 10_000, release: 40_000, mutant: 200)
        : trial.cycles(quick: 0, nightly: 1_000, release: 4_000, mutant: 0)
      guard imageCount > 0, tally.isClean else { continue }
      guard kind.isAvailable else {
        throw ChildProcess.Failed(description: "\(kind.maker) is missing")
      }
      let perSession = min(imageCount, trial.scale == .quick ? 30 : kind == .ext4 ? 250 : 125)
      let path = scratch.path
      let part = try inLanes((imageCount + perSession - 1) / perSession) { number in
        trial.progress.report("\(kind): \(number * perSession) of \(imageCount) images")
        return try FileSystemSession(
          trial: trial, kind: kind, number: number, folder: "\(path)/\(kind)-\(number)",
          recorder: recorder, disk: disk
        ).run(imageCount: perSession)
      }
      tally.add(part)
      tally.count(kind.rawValue, part.cycles)
    }
    return tally
  }
}

/// One recorded load on a file system, and the disks that it could have left.
private struct FileSystemSession {
  let trial: Trial
  let kind: FileSystemKind
  let number: Int
  let folder: String
  let recorder: Recorder
  let disk: String

  private var base: String { folder + "/base" }
  private var record: String { folder + "/record" }

  func run(imageCount: Int) throws -> Tally {
    let manager = FileManager.default
    try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? manager.removeItem(atPath: folder) }  // In a place for temporary files.
    try kind.make(at: base)
    try Mounting.run(["cp", "--sparse=always", base, folder + "/disk"])
    var random = trial.generator(number &+ kind.maker.count << 32)
    try load(&random)
    let kept = trial.folder.appendingPathComponent("\(kind)-\(number)").path
    let tally = try PowerImageRun(
      place: "\(kind) \(number)", role: FileSystemImages.role,
      arguments: [kind.rawValue, base, record], seed: random.next(), imageCount: imageCount,
      folder: folder + "/image", kept: kept, isMounted: true
    ).run()
    if !tally.isClean, trial.mutation == nil {
      try manager.copyItem(atPath: record, toPath: kept + "/record")
      try Mounting.run(["cp", "--sparse=always", base, kept + "/base"])
    }
    return tally
  }

  private func load(_ random: inout SeededGenerator) throws {
    let recorded = try RecordedDisk(
      program: disk, image: folder + "/disk", record: record, folder: folder + "/fuse")
    let place = folder + "/mounted"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    try kind.mount(recorded.disk, at: place)
    defer { Mounting.unmount(place) }
    let load = try trial.start(
      PowerLoad.role, place, recorded.marks, "\(random.next())",
      "\(Int.random(in: 5...40, using: &random))",
      // The mutant takes the library's syncs away in it.
      environment: recorder.environment(root: place, record: folder + "/calls"))
    let words = load.lines()
    guard load.wait() == 0 else {
      throw ChildProcess.Failed(description: "the load on \(kind) ended early: \(words)")
    }
  }
}

/// A disk that is served by `disk.c`, until it is let go of.
private final class RecordedDisk {
  private let folder: String
  private let server: ChildProcess

  var disk: String { folder + "/disk" }
  var marks: String { folder + "/marks" }

  static func compile(in folder: String) throws -> String {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("disk.c").path
    let path = folder + "/disk"
    guard try ChildProcess(["clang", "-O1", "-o", path, source]).wait() == 0 else {
      throw ChildProcess.Failed(description: "clang could not compile \(source)")
    }
    return path
  }

  init(program: String, image: String, record: String, folder: String) throws {
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    server = try ChildProcess([program, image, record, folder])
    _ = try server.expect("ready")
  }

  deinit {
    Mounting.unmount(folder)
    // It ends when nothing is mounted from it any more.
    _ = server.end(timeoutSeconds: 20)
  }
}
