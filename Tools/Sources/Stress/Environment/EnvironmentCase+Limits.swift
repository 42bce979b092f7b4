import Foundation

// What the system gives the process is used up.
extension EnvironmentCase {
  static let limits = [
    EnvironmentCase("no-descriptors-to-open") { scene in
      let store = try scene.makeStore()
      let hand = try scene.newHand()
      scene.must(hand.ask("limit", "files", "64"), "the limit")
      // Each number of them that is left stops the opening at another place.
      var isOpen = false
      for left in 0..<12 where !isOpen {
        scene.must(hand.ask("take-descriptors", "\(left)"), "taking descriptors")
        let answer = hand.ask("open", "a", store)
        if case .done = answer {
          isOpen = true
          scene.must(hand.ask("close", "a"), "closing")
        } else {
          scene.refused(
            answer, "opening with \(left) descriptors", "system/\(EMFILE)",
            words: ["limit"])
        }
        scene.must(hand.ask("give-descriptors"), "giving them back")
      }
      if !isOpen { scene.fault("12 descriptors are not enough to open a store") }
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(scene.save(hand, "a", "a", at: store), "a save")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("no-descriptors-to-make-a-store") { scene in
      let hand = try scene.newHand()
      let store = scene.path("store")
      scene.must(hand.ask("limit", "files", "64"), "the limit")
      for left in 0..<6 {
        scene.must(hand.ask("take-descriptors", "\(left)"), "taking descriptors")
        let answer = hand.ask("open", "a", store)
        if case .done = answer {
          scene.must(hand.ask("close", "a"), "closing")
        } else {
          scene.refused(
            answer, "making with \(left) descriptors", "system/\(EMFILE)",
            words: ["limit"])
        }
        scene.must(hand.ask("give-descriptors"), "giving them back")
      }
      try scene.verify(store)
    },
    EnvironmentCase("no-descriptors-while-open") { scene in
      let store = try scene.makeStore()
      let hand = try scene.newHand()
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(hand.ask("limit", "files", "64"), "the limit")
      scene.must(hand.ask("take-descriptors", "0"), "taking descriptors")
      scene.must(scene.save(hand, "a", "a", at: store), "a save, which needs none")
      scene.must(hand.ask("list", "a"), "reading, which needs none")
      scene.refused(
        hand.ask("compact", "a"), "compacting", "system/\(EMFILE)",
        words: ["limit"])
      scene.refused(
        hand.ask("backup", "a", scene.path("b")), "a backup", "system/\(EMFILE)",
        words: ["limit"])
      if access(scene.path("b"), F_OK) == 0 { scene.fault("the backup left something") }
      scene.must(hand.ask("give-descriptors"), "giving them back")
      scene.must(hand.ask("compact", "a"), "compacting")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("file-size-limit") { scene in
      let store = try scene.makeStore()
      let hand = try scene.newHand()
      // Whoever sets the limit without this is ended by the system: see the next case.
      scene.must(hand.ask("ignore", "\(SIGXFSZ)"), "ignoring the signal")
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(hand.ask("limit", "size", "200000"), "the limit")
      let prefix = scene.nonce()
      let filled = scene.must(hand.ask("fill", "a", prefix, "3000", "1000"), "filling")
      if filled.count < 3 || filled[1] != "full/fileSize" { scene.fault("filling gave \(filled)") }
      for index in 0..<(Int(filled.first ?? "") ?? 0) {
        scene.remember("\(prefix)-\(index)", prefix, at: store)
      }
      scene.must(hand.ask("limit", "size", "none"), "no limit")
      scene.must(scene.save(hand, "a", "behind", at: store), "a save")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("little-address-space") { scene in
      let store = try scene.makeStore()
      let hand = try scene.newHand()
      // Room for the smallest map, which the opening comes down to.
      scene.must(hand.ask("limit", "addresses", "\(24 << 30)"), "the limit")
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(scene.save(hand, "a", "a", at: store), "a save")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("no-address-space") { scene in
      let store = try scene.makeStore()
      let hand = try scene.newHand()
      scene.must(hand.ask("limit", "addresses", "\(600 << 20)"), "the limit")
      scene.refused(
        hand.ask("open", "a", store), "opening", "system/\(ENOMEM)", words: ["mapByteCount"])
      scene.must(hand.ask("limit", "addresses", "none"), "no limit")
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(scene.save(hand, "a", "a", at: store), "a save")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("in-memory-disk") { scene in
      guard access("/dev/shm", W_OK) == 0 else { return }
      let store = "/dev/shm/stress-\(getpid())-\(scene.nonce())"
      defer { try? FileManager.default.removeItem(atPath: store) }  // Nobody else's.
      let hand = try scene.hand()
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(scene.save(hand, "a", "a", at: store), "a save")
      scene.must(hand.ask("compact", "a"), "compacting")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
  ]

  static let backups = [
    EnvironmentCase("backup-over-something") { scene in
      let store = try scene.makeStore()
      let hand = try scene.hand()
      scene.must(hand.ask("open", "a", store), "opening")
      let file = try scene.victim("file")
      mkdir(scene.path("full"), 0o700)
      _ = try scene.victim("full/data.mdb")
      symlink(scene.path("nowhere"), scene.path("dangling"))
      symlink(file, scene.path("link"))
      for name in ["file", "full", "dangling", "link"] {
        scene.refused(
          hand.ask("backup", "a", scene.path(name)), "a backup to \(name)", "system/\(EEXIST)",
          words: ["another name"])
      }
      if access(scene.path("nowhere"), F_OK) == 0 { scene.fault("the link's target was made") }
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("staging-is-a-link") { scene in
      let store = try scene.makeStore()
      mkdir(scene.path("target"), 0o700)
      _ = try scene.victim("target/data.mdb")
      let hand = try scene.hand()
      scene.must(hand.ask("open", "a", store), "opening")
      symlink(scene.path("target"), store + "/.larder-staging")
      scene.refused(hand.ask("compact", "a"), "compacting", "unsafeFile", words: ["link"])
      scene.must(scene.save(hand, "a", "a", at: store), "a save")
      symlink(scene.path("target"), scene.path(".b.larder-backup"))
      scene.refused(hand.ask("backup", "a", scene.path("b")), "a backup", "unsafeFile")
      scene.must(hand.ask("close", "a"), "closing")
      scene.checkVictims()
      unlink(store + "/.larder-staging")
      try scene.verify(store)
    },
    EnvironmentCase("restore-over-an-open-store") { scene in
      let store = try scene.makeStore()
      let hand = try scene.hand()
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(hand.ask("backup", "a", scene.path("b")), "a backup")
      scene.must(scene.save(hand, "a", "behind", at: store), "a save")
      for other in [hand, try scene.newHand()] {
        scene.refused(
          other.ask("restore", scene.path("b"), store), "restoring", "inUse", words: ["close"])
      }
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
  ]
}
