import Foundation

/// A file system of the kernel on a disk of ours.
enum FileSystemKind: String, CaseIterable, Sendable {
  case ext4, xfs, btrfs

  /// The smallest disks that these can be made on, or little more.
  private var byteCount: Int {
    switch self {
    case .ext4: 24 << 20
    case .xfs: 300 << 20
    case .btrfs: 128 << 20
    }
  }

  private var makingArguments: [String] {
    switch self {
    case .ext4: ["-q", "-F", "-b", "4096", "-J", "size=4"]
    case .xfs: ["-q", "-f"]
    case .btrfs: ["-q", "-f", "-m", "single"]
    }
  }

  var maker: String { "mkfs.\(rawValue)" }

  /// Whether the program that makes one is there.
  var isAvailable: Bool {
    Mounting.path.split(separator: ":").contains { access("\($0)/\(maker)", X_OK) == 0 }
  }

  /// Makes an empty one in a file.
  ///
  /// - Parameter isMixed: For btrfs: data and what is known of it share their room.
  func make(at path: String, isMixed: Bool = false) throws {
    guard FileManager.default.createFile(atPath: path, contents: nil),
      truncate(path, byteCount) == 0
    else { throw ChildProcess.Failed(description: "\(path) cannot be made") }
    let arguments = isMixed ? ["-q", "-f", "--mixed"] : makingArguments
    try Mounting.run([maker] + arguments + [path])
  }

  /// Mounts one; a journal is replayed then.
  func mount(_ image: String, at folder: String) throws {
    try Mounting.run(["mount", "-t", rawValue, "-o", "loop", image, folder])
  }
}

/// Mounts, by the programs that the system has for it.
enum Mounting {
  /// Where programs are, with the folders that root's path has.
  static var path: String {
    (getenv("PATH").map { String(cString: $0) } ?? "") + ":/usr/sbin:/sbin"
  }

  static func run(_ arguments: [String]) throws {
    let child = try ChildProcess(["env"] + arguments, ["PATH": path])
    let words = child.lines()
    guard child.wait() == 0 else {
      throw ChildProcess.Failed(description: "\(arguments.joined(separator: " ")) failed: \(words)")
    }
  }

  /// Lets go of whatever is mounted there, also where somebody still uses it.
  static func unmount(_ folder: String) {
    // Where nothing is mounted there is nothing to do.
    try? run(["sh", "-c", "umount \"$0\" 2>/dev/null || umount -l \"$0\" 2>/dev/null", folder])
  }

  /// Why nothing can be mounted here; nil where it can.
  static func obstacle() -> String? {
    #if os(Linux)
      guard geteuid() == 0 else { return "needs root, to mount" }
      for device in ["/dev/fuse", "/dev/loop-control"] where access(device, R_OK | W_OK) != 0 {
        return "needs \(device)"
      }
      do {
        let scratch = try Scratch("mount")
        try run(["mount", "-t", "tmpfs", "none", scratch.path])
        unmount(scratch.path)
        return nil
      } catch {
        return "may not mount: \(error)"
      }
    #else
      return "needs Linux, its loop devices and FUSE"
    #endif
  }
}
