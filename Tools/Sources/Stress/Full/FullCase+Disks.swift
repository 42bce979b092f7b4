import Foundation

// A disk without a free byte under a store whose lock file is cold: a copy without one, one that was
// closed long ago, one that is open and is read by more than before. On each file system that this
// machine can mount, since they differ in what they do with a page that has no place yet.
extension FullCase {
  static let disks = Disk.allCases.flatMap { disk in
    [
      FullCase("lock-file-missing", on: disk) { scene, hand, folder in
        let store = try makeStore(scene, hand, folder)
        takeAll(folder, hand)
        unlink("/proc/\(hand.process.id)/root\(store)/lock.mdb")
        takeAll(folder, hand)
        for option in ["readonly=1", "readonly=0"] {
          let other = try scene.newHand(wrapper: beside(hand))
          scene.refused(
            other.ask("open", "a", store, option), "opening without a lock file", "full/disk",
            words: ["The disk of the store at", store])
        }
        expectHolds(["data.mdb", "larder.lock"], in: store, of: hand, scene)
        try giveBack(scene, hand, folder, store)
      },
      FullCase("lock-file-cold", on: disk) { scene, hand, folder in
        let store = try makeStore(scene, hand, folder)
        takeAll(folder, hand)
        let reader = try scene.newHand(wrapper: beside(hand))
        let opened = reader.ask("open", "a", store, "readonly=1")
        if disk.expect(opened, "opening to read", scene) != nil {
          holdMany(reader, scene, on: disk)
          let found = disk.expect(reader.ask("list", "a"), "reading", scene)
          if let found, found.count != 20 { scene.fault("lost some") }
          scene.must(reader.ask("release"), "letting go")
          _ = disk.expect(reader.ask("close", "a"), "closing", scene)
        }
        try giveBack(scene, hand, folder, store)
      },
      FullCase("lock-file-in-use", on: disk) { scene, hand, folder in
        let store = try makeStore(scene, hand, folder)
        let reader = try scene.newHand(wrapper: beside(hand))
        scene.must(reader.ask("open", "a", store), "opening")
        scene.must(reader.ask("list", "a"), "reading")
        takeAll(folder, hand)
        holdMany(reader, scene, on: disk)
        // Another process, in slots of its own.
        let other = try scene.newHand(wrapper: beside(hand))
        let opened = other.ask("open", "a", store, "readonly=1")
        let isOpen = disk.expect(opened, "opening to read", scene) != nil
        if isOpen { holdMany(other, scene, on: disk) }
        for reader in isOpen ? [reader, other] : [reader] {
          scene.must(reader.ask("release"), "letting go")
          _ = disk.expect(reader.ask("close", "a"), "closing", scene)
        }
        try giveBack(scene, hand, folder, store)
      },
      FullCase("copies", on: disk) { scene, hand, folder in
        // A store elsewhere, whose disk has room.
        let store = scene.path("elsewhere")
        scene.must(hand.ask("open", "a", store), "making a store")
        let prefix = scene.nonce()
        _ = scene.fill(hand, "a", prefix, byteCount: 3000, most: 20, at: store)
        takeAll(folder, hand)
        for (deed, target) in [("backup", folder + "/b"), ("restore", folder + "/r")] {
          let answer =
            deed == "backup"
            ? hand.ask("backup", "a", target) : hand.ask("restore", scene.path("source"), target)
          if deed == "backup" {
            scene.refused(answer, deed, "full/disk", words: ["The disk of the store at \(target)"])
            scene.must(hand.ask("backup", "a", scene.path("source")), "a backup elsewhere")
          } else {
            scene.refused(answer, deed, "full/disk", words: ["The disk of the store at \(target)"])
          }
        }
        scene.must(hand.ask("close", "a"), "closing")
        try scene.verify(store, with: try scene.newHand(wrapper: beside(hand)))
      },
    ]
  }

  /// More than one page of the lock file has slots for.
  private static func holdMany(_ hand: Hand, _ scene: Scene, on disk: Disk) {
    for number in 1...150 {
      let answer = hand.ask("hold", "a")
      guard disk.expect(answer, "snapshot \(number)", scene) != nil else { return }
    }
  }

  private static func makeStore(_ scene: Scene, _ hand: Hand, _ folder: String) throws -> String {
    let store = folder + "/store"
    scene.must(hand.ask("open", "made", store), "making a store")
    _ = scene.fill(hand, "made", scene.nonce(), byteCount: 500, most: 20, at: store)
    scene.must(hand.ask("close", "made"), "closing")
    return store
  }

  /// There is room again, and everything is as it was.
  private static func giveBack(
    _ scene: Scene, _ hand: Hand, _ folder: String, _ store: String
  ) throws {
    scene.must(hand.ask("run", "sh", "-c", "rm \(folder)/ballast*; sync"), "making room")
    try scene.verify(store, with: try scene.newHand(wrapper: beside(hand)))
  }

  /// Fills a disk until not one page is left.
  private static func takeAll(_ folder: String, _ hand: Hand) {
    // What was deleted counts as taken for a while, and ext4 keeps some for whoever allocates.
    let name = "$(mktemp \(folder)/ballastXXXXXX)"
    let script = """
      sync -f \(folder); cat /dev/zero 2> /dev/null > \(name); sync -f \(folder)
      for size in 65536 4096; do
        while fallocate --length $size \(name) 2> /dev/null; do :; done
      done
      sync -f \(folder)
      """
    // It fails, as there is an end.
    _ = hand.ask("run", "sh", "-c", script)
  }
}

/// A file system with little room on it.
enum Disk: String, CaseIterable, Sendable {
  case tmpfs, ext4, btrfs

  /// Why it cannot be had here; nil where it can.
  func obstacle() -> String? {
    guard geteuid() == 0 else { return "needs root, to mount" }
    guard let kind = FileSystemKind(rawValue: rawValue) else { return nil }
    guard access("/dev/loop-control", R_OK | W_OK) == 0 else { return "needs /dev/loop-control" }
    guard kind.isAvailable else { return "needs \(kind.maker)" }
    let known = (try? String(contentsOfFile: "/proc/filesystems", encoding: .utf8)) ?? ""
    return known.split(whereSeparator: \.isWhitespace).contains(Substring(rawValue))
      ? nil : "the kernel has no \(rawValue)"
  }

  /// What must be done on a full disk; or refused, and nothing worse, by a file system that needs room
  /// for whatever is written, also where a file has its place.
  ///
  /// - Returns: Nil for what was not done.
  func expect(_ answer: Hand.Answer, _ what: String, _ scene: Scene) -> [String]? {
    if self == .btrfs, case .refused = answer {
      scene.count("refused-by-btrfs")
      scene.refused(answer, what, "full/disk", words: ["The disk of the store at"])
      return nil
    }
    let words = scene.must(answer, what)
    if case .done = answer { return words }
    return nil
  }

  /// Mounts an empty one where only the hand sees it.
  func mount(_ scene: Scene, _ hand: Hand, at folder: String) throws {
    guard let kind = FileSystemKind(rawValue: rawValue) else {
      scene.must(
        hand.ask("run", "mount", "-t", "tmpfs", "-o", "size=3m", "none", folder), "mounting")
      return
    }
    let image = scene.path("image")
    // One that keeps apart what it knows of files has no room for that even once all else has gone.
    try kind.make(at: image, isMixed: self == .btrfs)
    // The loop device goes with the last who sees it mounted.
    scene.must(
      hand.ask("run", "mount", "-t", rawValue, "-o", "loop", image, folder), "mounting")
  }
}

extension FullCase {
  fileprivate init(
    _ name: String, on disk: Disk, _ run: @escaping @Sendable (Scene, Hand, String) throws -> Void
  ) {
    self.init("\(name)-\(disk)", obstacle: { disk.obstacle() }) { scene in
      let folder = scene.path("disk")
      mkdir(folder, 0o700)
      let hand = try scene.newHand(wrapper: ["unshare", "-m"])
      try disk.mount(scene, hand, at: folder)
      // It writes the lock file's page to the disk when it looks for room, also between Larder's
      // making it ready and LMDB's writing to it; and then has no room for another write.
      scene.mayEndByDisk = disk == .btrfs
      try run(scene, hand, folder)
    }
  }
}
