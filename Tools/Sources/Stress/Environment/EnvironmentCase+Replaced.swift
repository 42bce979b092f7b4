import Foundation

// A store's files go away, or are replaced, while it is open.
extension EnvironmentCase {
  static let replaced = [
    EnvironmentCase("lock-unlinked-while-open") { scene in
      let store = try scene.makeStore()
      let (first, second) = (try scene.hand(), try scene.newHand())
      scene.must(first.ask("open", "a", store), "opening")
      scene.must(scene.save(first, "a", "before", at: store), "a save")
      unlink(store + "/lock.mdb")
      // With a lock file of its own it would overwrite what the first one reads.
      scene.refused(
        second.ask("open", "b", store), "opening by another process", "lockTableDamaged",
        words: ["close the store in every process"])
      scene.refused(
        scene.save(first, "a", "first", at: store), "a save without the lock",
        "lockFileReplaced", words: ["close the store in every process"])
      scene.must(first.ask("close", "a"), "closing")
      scene.must(second.ask("open", "b", store), "opening by another process")
      scene.must(scene.save(second, "b", "second", at: store), "a save behind it")
      scene.must(first.ask("open", "a", store), "opening again")
      scene.must(scene.save(first, "a", "again", at: store), "a save afterwards")
      scene.must(first.ask("close", "a"), "closing again")
      scene.must(second.ask("close", "b"), "closing the other")
      try scene.verify(store)
    },
    EnvironmentCase("folder-copied-while-open") { scene in
      let store = try scene.makeStore()
      let (first, second) = (try scene.hand(), try scene.newHand())
      scene.must(first.ask("open", "a", store), "opening")
      scene.must(first.ask("hold", "a"), "a snapshot")
      // By the process itself, which so lets go of LMDB's locks.
      scene.must(first.ask("read-file", store + "/lock.mdb"), "reading the lock file")
      scene.refused(
        second.ask("open", "b", store), "opening by another process", "lockTableDamaged",
        words: ["close the store in every process", "copy of the folder"])
      scene.must(scene.save(first, "a", "first", at: store), "a save")
      scene.must(first.ask("release"), "letting go")
      scene.must(first.ask("close", "a"), "closing")
      scene.must(second.ask("open", "b", store), "opening by another process")
      scene.must(scene.save(second, "b", "second", at: store), "a save")
      scene.must(second.ask("close", "b"), "closing the other")
      try scene.verify(store)
    },
    EnvironmentCase("folder-replaced-before-compaction") { scene in
      let (store, other) = (try scene.makeStore(), try scene.makeStore("other"))
      let hand = try scene.hand()
      scene.must(hand.ask("open", "a", store), "opening")
      rename(store, scene.path("aside"))
      rename(other, store)
      scene.protect(store + "/data.mdb")
      scene.refused(hand.ask("compact", "a"), "compacting", "lockFileReplaced")
      scene.refused(hand.ask("check", "a"), "checking", "lockFileReplaced")
      scene.must(hand.ask("close", "a"), "closing")
      scene.checkVictims()
      try scene.verify(store, rememberedAs: scene.path("other"))
    },
    EnvironmentCase("data-unlinked-while-open") { scene in
      let store = try scene.makeStore()
      let hand = try scene.hand()
      scene.must(hand.ask("open", "a", store), "opening")
      let aside = scene.path("aside")
      rename(store + "/data.mdb", aside)
      scene.refused(
        scene.save(hand, "a", "lost", at: store), "a save into a file without a name",
        "lockFileReplaced", words: ["data.mdb", "open it again"])
      rename(aside, store + "/data.mdb")
      scene.must(scene.save(hand, "a", "back", at: store), "a save once it is back")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("data-replaced-while-open") { scene in
      let store = try scene.makeStore()
      let hand = try scene.hand()
      let copy = scene.path("copy")
      try FileManager.default.copyItem(atPath: store + "/data.mdb", toPath: copy)
      scene.must(hand.ask("open", "a", store), "opening")
      rename(store + "/data.mdb", scene.path("aside"))
      rename(copy, store + "/data.mdb")
      scene.protect(store + "/data.mdb")
      scene.refused(
        scene.save(hand, "a", "lost", at: store), "a save beside another file", "lockFileReplaced")
      scene.must(hand.ask("close", "a"), "closing")
    },
    EnvironmentCase("lock-replaced-while-open") { scene in
      let store = try scene.makeStore()
      let hand = try scene.hand()
      scene.must(hand.ask("open", "a", store), "opening")
      unlink(store + "/lock.mdb")
      let victim = try scene.victim("victim")
      symlink(victim, store + "/lock.mdb")
      scene.refused(
        scene.save(hand, "a", "lost", at: store), "a save beside another lock", "lockFileReplaced")
      scene.must(hand.ask("close", "a"), "closing")
      scene.refused(hand.ask("open", "a", store), "opening again", "unsafeFile")
    },
    EnvironmentCase("opening-lock-unlinked-while-open") { scene in
      let store = try scene.makeStore()
      let (first, second) = (try scene.hand(), try scene.newHand())
      scene.must(first.ask("open", "a", store), "opening")
      unlink(store + "/larder.lock")
      scene.must(second.ask("open", "b", store), "opening by another process")
      for number in 0..<3 {
        scene.must(scene.save(first, "a", "first-\(number)", at: store), "a save")
        scene.must(scene.save(second, "b", "second-\(number)", at: store), "a save of the other")
      }
      scene.must(first.ask("close", "a"), "closing")
      scene.must(second.ask("close", "b"), "closing the other")
      try scene.verify(store)
    },
    EnvironmentCase("folder-renamed-while-open") { scene in
      let store = try scene.makeStore()
      let hand = try scene.hand()
      scene.must(hand.ask("open", "a", store), "opening")
      let other = scene.path("other")
      rename(store, other)
      scene.refused(scene.save(hand, "a", "lost", at: store), "a save", "lockFileReplaced")
      scene.must(hand.ask("close", "a"), "closing")
      if access(store, F_OK) == 0 { scene.fault("the old folder was made again") }
      rename(other, store)
      try scene.verify(store)
    },
    EnvironmentCase("folder-removed-while-open") { scene in
      let store = try scene.makeStore("gone")
      let hand = try scene.hand()
      scene.must(hand.ask("open", "a", store), "opening")
      try FileManager.default.removeItem(atPath: store)
      scene.refused(scene.save(hand, "a", "lost", at: "nowhere"), "a save", "lockFileReplaced")
      if scene.must(hand.ask("list", "a"), "reading what is mapped").count != 1 {
        scene.fault("the snapshot is gone")
      }
      scene.must(hand.ask("close", "a"), "closing")
      scene.must(hand.ask("open", "a", store), "making another one there")
      scene.must(hand.ask("close", "a"), "closing it")
    },
    EnvironmentCase("disk-unmounted-while-open", needsRoot: true) { scene in
      let disk = scene.path("disk")
      mkdir(disk, 0o700)
      let hand = try scene.newHand(wrapper: ["unshare", "-m"])
      scene.must(
        hand.ask("run", "mount", "-t", "tmpfs", "-o", "size=8m", "none", disk), "mounting")
      scene.must(hand.ask("open", "a", disk + "/store"), "opening")
      scene.must(scene.save(hand, "a", "before", at: disk), "a save")
      scene.must(hand.ask("run", "umount", "-l", disk), "unmounting")
      scene.refused(scene.save(hand, "a", "lost", at: disk), "a save", "lockFileReplaced")
      if scene.must(hand.ask("list", "a"), "reading").count != 1 { scene.fault("nothing to read") }
      scene.must(hand.ask("close", "a"), "closing")
    },
    EnvironmentCase("disk-read-only", needsRoot: true) { scene in
      let store = try scene.makeStore()
      let hand = try scene.newHand(wrapper: ["unshare", "-m"])
      scene.must(hand.ask("run", "mount", "--bind", scene.folder, scene.folder), "mounting")
      scene.must(
        hand.ask("run", "mount", "-o", "remount,ro,bind", scene.folder), "making it read-only")
      scene.refused(
        hand.ask("open", "a", store), "opening", "system/\(EROFS)", words: ["isReadOnly"])
      scene.refused(
        hand.ask("open", "a", scene.path("new")), "making a store", "system/\(EROFS)")
      scene.must(hand.ask("open", "a", store, "readonly=1"), "opening to read only")
      if scene.must(hand.ask("list", "a"), "reading").count != 1 { scene.fault("nothing to read") }
      // Through another path the disk may be writable; LMDB could not tell a writer of this reader.
      let writer = try scene.newHand()
      scene.refused(
        writer.ask("open", "b", store), "opening beside it", "inUse", words: ["read-only"])
      scene.must(hand.ask("close", "a"), "closing")
      scene.must(writer.ask("open", "b", store), "opening behind it")
      scene.refused(
        hand.ask("open", "a", store, "readonly=1"), "opening beside who writes", "inUse")
      scene.must(writer.ask("close", "b"), "closing")
      try scene.verify(store)
    },
  ]
}
