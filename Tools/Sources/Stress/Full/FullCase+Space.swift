import Foundation

extension FullCase {
  static let space = [
    FullCase("disk", needsRoot: true) { scene in
      let (hand, disk) = try smallDisk(scene, byteCount: scene.number(3...6) << 20)
      let store = disk + "/store"
      scene.must(hand.ask("open", "a", store), "opening")
      let prefix = scene.nonce()
      let count = scene.fill(
        hand, "a", prefix, byteCount: scene.number(100...9000), "full/disk",
        words: ["The disk of the store at", "Free some space on the disk"], at: store)
      // Also with what is left for the smallest.
      let small = scene.nonce()
      let smallCount = scene.fill(hand, "a", small, byteCount: 1, "full/disk", at: store)
      scene.refused(hand.ask("compact", "a"), "compacting", "full/disk", words: ["Free some space"])
      scene.refused(hand.ask("backup", "a", disk + "/b"), "a backup", "full/disk")
      expectHolds(["store"], in: disk, of: hand, scene)
      expectHolds(["data.mdb", "larder.lock", "lock.mdb"], in: store, of: hand, scene)
      scene.empty(hand, "a", small, 0..<smallCount, at: store)
      scene.empty(hand, "a", prefix, 0..<count * 3 / 4, at: store)
      _ = scene.fill(
        hand, "a", scene.nonce(), byteCount: 1000, most: 20, at: store)
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store, with: try scene.newHand(wrapper: beside(hand)))
    },
    FullCase("disk-with-a-consumer-behind", needsRoot: true) { scene in
      let (hand, disk) = try smallDisk(scene, byteCount: 8 << 20)
      let store = disk + "/store"
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(hand.ask("consume", "a", "away"), "a consumer")
      // Each batch that is deleted is in the log, which the consumer has not acknowledged.
      for _ in 0..<3 {
        let prefix = scene.nonce()
        let count = scene.fill(
          hand, "a", prefix, byteCount: 2000, "full/disk",
          words: ["The disk of the store at"], at: store)
        if count < 500 { scene.fault("only \(count) found room") }
        scene.empty(hand, "a", prefix, 0..<count, at: store)
      }
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store, with: try scene.newHand(wrapper: beside(hand)))
    },
    FullCase("disk-filled-by-others", needsRoot: true) { scene in
      let (hand, disk) = try smallDisk(scene, byteCount: 4 << 20)
      let store = disk + "/store"
      scene.must(hand.ask("open", "a", store), "opening")
      let first = scene.nonce()
      let count = scene.fill(hand, "a", first, byteCount: 2000, most: 100, at: store)
      // All that is left, down to the last page. What the store has reserved stays its own.
      takeAll(disk, hand)
      _ = scene.fill(hand, "a", scene.nonce(), byteCount: 4000, "full/disk", at: store)
      scene.empty(hand, "a", first, 0..<count / 2, at: store)
      unlink("/proc/\(hand.process.id)/root\(disk)/ballast")
      _ = scene.fill(hand, "a", scene.nonce(), byteCount: 4000, most: 100, at: store)
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store, with: try scene.newHand(wrapper: beside(hand)))
    },
    FullCase("disk-filled-by-others-behind-one-save", needsRoot: true) { scene in
      let (hand, disk) = try smallDisk(scene, byteCount: 16 << 20)
      let store = disk + "/store"
      scene.must(hand.ask("open", "a", store), "opening")
      // Larger than all that is kept for deleting, and the first of the store, as an import may be.
      let first = scene.nonce()
      let count = scene.number(100...300)
      let saved = hand.ask("saveAll", "a", first, "\(scene.number(9000...30_000))", "\(count)", "b")
      scene.must(saved, "one save")
      for index in 0..<count { scene.remember("\(first)-\(index)", first, at: store) }
      takeAll(disk, hand)
      if scene.number(0...1) == 1 {
        scene.must(hand.ask("close", "a"), "closing")
        scene.must(hand.ask("open", "a", store), "opening on a full disk")
      }
      scene.empty(hand, "a", first, 0..<count / 2, at: store)
      unlink("/proc/\(hand.process.id)/root\(disk)/ballast")
      _ = scene.fill(hand, "a", scene.nonce(), byteCount: 4000, most: 10, at: store)
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store, with: try scene.newHand(wrapper: beside(hand)))
    },
    FullCase("disk-nearly-taken-by-one-save", needsRoot: true) { scene in
      let (hand, disk) = try smallDisk(scene, byteCount: 16 << 20)
      let store = disk + "/store"
      scene.must(hand.ask("open", "a", store), "opening")
      let prefix = scene.nonce()
      let count = scene.number(1500...2500)
      scene.must(hand.ask("saveAll", "a", prefix, "1000", "\(count)", "b"), "one save")
      for index in 0..<count { scene.remember("\(prefix)-\(index)", prefix, at: store) }
      // About as much as the copies of all pages take, and what is kept for deleting.
      let left = scene.number((count * 1000)...(count * 2500 + 1 << 20))
      let script = """
        free=$(df --output=avail -B1 \(disk) | tail -1)
        if [ $free -gt \(left) ]; then head -c $((free - \(left))) /dev/zero > \(disk)/most; fi
        """
      scene.must(hand.ask("run", "sh", "-c", script), "leaving some room")
      let replaced = hand.ask("saveAll", "a", prefix, "1000", "\(count)", "c")
      if case .refused = replaced { scene.refused(replaced, "replacing all", "full/disk") }
      takeAll(disk, hand)
      scene.empty(hand, "a", prefix, 0..<count / 2, at: store)
      unlink("/proc/\(hand.process.id)/root\(disk)/ballast")
      unlink("/proc/\(hand.process.id)/root\(disk)/most")
      _ = scene.fill(hand, "a", scene.nonce(), byteCount: 4000, most: 10, at: store)
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store, with: try scene.newHand(wrapper: beside(hand)))
    },
    FullCase("disk-too-small-for-a-store", needsRoot: true) { scene in
      let (hand, disk) = try smallDisk(scene, byteCount: 96 << 10)
      let store = disk + "/store"
      takeAll(disk, hand)
      scene.refused(
        hand.ask("open", "a", store), "making a store", "system/\(ENOSPC)", "system/\(EIO)",
        "full/disk", words: ["ree some "])
      unlink("/proc/\(hand.process.id)/root\(disk)/ballast")
      scene.must(hand.ask("open", "a", store), "making it once there is room")
      scene.must(scene.save(hand, "a", "a", at: store), "a save")
      scene.must(hand.ask("close", "a"), "closing")
    },
    FullCase("file-size") { scene in
      let hand = try scene.newHand()
      let store = scene.path("store")
      scene.must(hand.ask("ignore", "\(SIGXFSZ)"), "ignoring the signal")
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(hand.ask("limit", "size", "\(scene.number(3...5) << 20)"), "the limit")
      let prefix = scene.nonce()
      let count = scene.fill(
        hand, "a", prefix, byteCount: scene.number(100...9000), "full/fileSize",
        words: ["Raise the limit"], at: store)
      scene.empty(hand, "a", prefix, 0..<count / 2, at: store)
      _ = scene.fill(hand, "a", scene.nonce(), byteCount: 1000, most: 20, at: store)
      // Full again, and given room by whoever runs the process.
      _ = scene.fill(
        hand, "a", scene.nonce(), byteCount: 2000, "full/fileSize", at: store)
      scene.must(hand.ask("limit", "size", "none"), "lifting the limit")
      _ = scene.fill(hand, "a", scene.nonce(), byteCount: 2000, most: 20, at: store)
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    FullCase("quota") { scene in
      try limited(scene, "quota=\(scene.number(400...1500) << 10)", "full/quota")
    },
    FullCase("quota-small-log") { scene in
      try limited(scene, "quota=\(scene.number(400...1500) << 10)", "log=20000", "full/quota")
    },
    FullCase("map") { scene in
      try limited(scene, "map=\(scene.number(500...1500) << 10)", "full/quota", "full/map")
    },
    FullCase("quota-of-two-processes") { scene in
      let store = scene.path("store")
      let option = "quota=\(1 << 20)"
      let hands = [try scene.newHand(), try scene.newHand()]
      for hand in hands { scene.must(hand.ask("open", "a", store, option), "opening") }
      let prefixes = hands.map { _ in scene.nonce() }
      // Both at the same time, for the same room.
      for (hand, prefix) in zip(hands, prefixes) {
        hand.process.say("fill a \(prefix) 2000 100000")
      }
      let counts = zip(hands, prefixes).map { hand, prefix in
        let answer = scene.must(hand.answer(), "filling")
        let count = answer.first.flatMap { Int($0) } ?? 0
        for index in 0..<count { scene.remember("\(prefix)-\(index)", prefix, at: store) }
        if answer.dropFirst().first != "full/quota" { scene.fault("filling gave \(answer)") }
        return count
      }
      for ((hand, prefix), count) in zip(zip(hands, prefixes), counts) {
        scene.empty(hand, "a", prefix, 0..<count / 2, at: store)
      }
      for hand in hands {
        _ = scene.fill(hand, "a", scene.nonce(), byteCount: 2000, most: 20, at: store)
        scene.must(hand.ask("close", "a"), "closing")
      }
      try scene.verify(store)
    },
    FullCase("descriptors") { scene in
      let store = try scene.makeStore()
      let hand = try scene.newHand()
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(hand.ask("limit", "files", "64"), "the limit")
      scene.must(hand.ask("take-descriptors", "0"), "taking descriptors")
      let prefix = scene.nonce()
      let count = scene.fill(hand, "a", prefix, byteCount: 3000, most: 50, at: store)
      scene.empty(hand, "a", prefix, 0..<count / 2, at: store)
      scene.refused(
        hand.ask("open", "b", scene.path("other")), "opening another", "system/\(EMFILE)",
        words: ["limit"])
      scene.must(hand.ask("give-descriptors"), "giving them back")
      scene.must(hand.ask("open", "b", scene.path("other")), "opening another")
      scene.must(hand.ask("close", "b"), "closing it")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
  ]

  /// Fills a store that may have so much, deletes and fills it again, and once more.
  private static func limited(_ scene: Scene, _ words: String...) throws {
    let store = scene.path("store")
    let options = words.filter { $0.contains("=") }
    let kinds = words.filter { !$0.contains("=") }
    let hand = try scene.newHand()
    let opened = ["open", "a", store] + options
    hand.process.say(opened.map { $0.asWord }.joined(separator: " "))
    scene.must(hand.answer(), "opening")
    for byteCount in [scene.number(100...9000), scene.number(1...3000)] {
      let prefix = scene.nonce()
      let answer = scene.must(
        hand.ask("fill", "a", prefix, "\(byteCount)", "100000"), "filling")
      let count = answer.first.flatMap { Int($0) } ?? 0
      for index in 0..<count { scene.remember("\(prefix)-\(index)", prefix, at: store) }
      if answer.count == 3 {
        let refusal = ErrorWords(kind: answer[1], text: answer[2])
        scene.refused(.refused(refusal), "filling", kinds, words: ["elete documents"])
      } else {
        scene.fault("it was never full")
      }
      // An index has no room either, and must leave alone what deletes live on.
      for field in ["nonce", "body"] {
        let answer = hand.ask("index", "a", field)
        if case .done = answer { continue }
        scene.refused(answer, "an index", kinds)
      }
      scene.empty(hand, "a", prefix, 0..<count * 3 / 4, at: store)
      _ = scene.fill(hand, "a", scene.nonce(), byteCount: byteCount, most: count / 8, at: store)
    }
    scene.must(hand.ask("close", "a"), "closing")
    try scene.verify(store)
  }

  // MARK: Small disks

  /// A hand that sees a disk of its own, which is gone with the last who sees it.
  private static func smallDisk(_ scene: Scene, byteCount: Int) throws -> (Hand, String) {
    let disk = scene.path("disk")
    mkdir(disk, 0o700)
    let hand = try scene.newHand(wrapper: ["unshare", "-m"])
    scene.must(
      hand.ask("run", "mount", "-t", "tmpfs", "-o", "size=\(byteCount)", "none", disk), "mounting")
    return (hand, disk)
  }

  /// Fills a disk to its last page; it must fail, as there is an end.
  private static func takeAll(_ disk: String, _ hand: Hand) {
    _ = hand.ask("run", "sh", "-c", "cat /dev/zero 2> /dev/null > \(disk)/ballast")
  }

  /// Runs a program that sees what a hand sees.
  static func beside(_ hand: Hand) -> [String] {
    ["nsenter", "-t", "\(hand.process.id)", "-m"]
  }

  static func expectHolds(
    _ names: [String], in folder: String, of hand: Hand, _ scene: Scene
  ) {
    let path = "/proc/\(hand.process.id)/root\(folder)"
    let found = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    if found.sorted() != names { scene.fault("\(folder) holds \(found.sorted()), not \(names)") }
  }
}
