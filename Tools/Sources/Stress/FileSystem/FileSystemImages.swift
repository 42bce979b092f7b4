import Foundation

/// The disk under a file system: `filesystem-images KIND BASE RECORD SEED COUNT FROM FOLDER KEEP`.
struct FileSystemImages: Worker {
  static let role = "filesystem-images"

  static func run(_ arguments: [String]) throws {
    guard let kind = FileSystemKind(rawValue: arguments[0]) else { return }
    let record = try PowerRecord(arguments[2])
    let disk = MountedDisk(
      kind: kind, disk: try BlockDisk(base: arguments[1], record: record.bytes))
    let images = PowerImages(
      record: record, disk: disk, seed: UInt64(arguments[3]) ?? 0, folder: arguments[6],
      keep: arguments[7])
    try images.run(count: Int(arguments[4]) ?? 0, from: Int(arguments[5]) ?? 0)
  }
}

private struct MountedDisk: FailingDisk {
  let kind: FileSystemKind
  var disk: BlockDisk

  mutating func apply(_ event: PowerRecord.Event) { disk.apply(event) }

  func withRemains(
    in folder: String, _ random: inout SeededGenerator, _ body: (String) throws -> Void
  ) throws {
    let image = folder + ".image"
    var survival = Survival(random)
    try disk.write(to: image, &survival)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try kind.mount(image, at: folder)
    defer { Mounting.unmount(folder) }
    try Restart.renote(below: folder)
    try body(folder)
  }

  /// The disk itself, to be mounted again.
  func keepRemains(in folder: String, _ random: inout SeededGenerator) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var survival = Survival(random)
    try disk.write(to: folder + "/disk", &survival)
  }
}
