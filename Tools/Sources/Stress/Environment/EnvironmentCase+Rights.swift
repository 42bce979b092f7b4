import Foundation

// Who may do what, and who has made what. `nobody` is a user without any rights.
extension EnvironmentCase {
  private static let nobody = 65534

  static var rights: [EnvironmentCase] { rightsOfFolders + rightsOfFiles }

  private static let rightsOfFolders = [
    EnvironmentCase("folder-read-only", needsRoot: true) { scene in
      try asNobody(scene) { hand, store in
        chmod(store, 0o500)
        // Its files may be written, and nothing has to be made in it.
        scene.must(hand.ask("open", "a", store), "opening")
        scene.must(scene.save(hand, "a", "more", at: store), "a save")
        scene.refused(hand.ask("compact", "a"), "compacting", "system/\(EACCES)", words: ["owns"])
        scene.must(scene.save(hand, "a", "behind", at: store), "a save behind it")
        scene.must(hand.ask("close", "a"), "closing")
      }
    },
    EnvironmentCase("folder-read-only-and-empty", needsRoot: true) { scene in
      try asNobody(scene) { hand, _ in
        let folder = scene.path("empty")
        mkdir(folder, 0o500)
        chown(folder, uid_t(nobody), gid_t(nobody))
        scene.refused(hand.ask("open", "a", folder), "opening", "system/\(EACCES)", words: ["owns"])
      }
    },
    EnvironmentCase("folder-without-rights", needsRoot: true) { scene in
      try asNobody(scene) { hand, store in
        chmod(store, 0)
        scene.refused(hand.ask("open", "a", store), "opening", "system/\(EACCES)", words: ["owns"])
        chmod(store, 0o700)
      }
    },
    EnvironmentCase("data-read-only", needsRoot: true) { scene in
      try asNobody(scene) { hand, store in
        chmod(store + "/data.mdb", 0o400)
        scene.protect(store + "/data.mdb")
        scene.refused(hand.ask("open", "a", store), "opening", "system/\(EACCES)", words: ["owns"])
        scene.must(hand.ask("open", "a", store, "readonly=1"), "opening to read only")
        scene.refused(hand.ask("save", "a", "no", "no"), "a save", "readOnly")
        scene.must(hand.ask("close", "a"), "closing")
        scene.checkVictims()
        chmod(store + "/data.mdb", 0o600)
      }
    },
    EnvironmentCase("parent-without-rights", needsRoot: true) { scene in
      try asNobody(scene) { hand, _ in
        chmod(scene.folder, 0o500)
        defer { chmod(scene.folder, 0o777) }
        scene.refused(
          hand.ask("open", "a", scene.path("new")), "making a store", "system/\(EACCES)",
          words: ["new", "owns"])
      }
    },
    EnvironmentCase("folder-of-another-user", needsRoot: true) { scene in
      let store = try scene.makeStore()
      chown(store, uid_t(nobody), gid_t(nobody))
      scene.refused(
        try scene.hand().ask("open", "a", store), "opening", "unsafeFile",
        words: ["user \(nobody)", "user 0"])
      chown(store, 0, 0)
      try scene.verify(store)
    },
    EnvironmentCase("store-of-another-user-to-read", needsRoot: true) { scene in
      let store = try scene.makeStore()
      // A copy that is published: anybody may read it, and there is no lock file.
      unlink(store + "/lock.mdb")
      chmod(scene.folder, 0o755)
      chmod(store, 0o755)
      chmod(store + "/data.mdb", 0o644)
      chmod(store + "/larder.lock", 0o644)
      scene.protect(store + "/data.mdb")
      let hand = try scene.newHand()
      scene.must(hand.ask("become", "\(nobody)"), "becoming nobody")
      scene.refused(hand.ask("open", "a", store), "opening", "unsafeFile", words: ["user 0"])
      scene.must(hand.ask("open", "a", store, "readonly=1"), "opening to read only")
      if scene.must(hand.ask("list", "a"), "reading").count != 1 { scene.fault("nothing to read") }
      scene.must(hand.ask("close", "a"), "closing")
      let names = Set((try? FileManager.default.contentsOfDirectory(atPath: store)) ?? [])
      if names != ["data.mdb", "larder.lock"] { scene.fault("it left \(names)") }
    },
    EnvironmentCase("store-of-another-user-with-its-lock", needsRoot: true) { scene in
      let store = try scene.makeStore()
      for path in [scene.folder, store] { chmod(path, 0o755) }
      for file in files { chmod(store + "/" + file, 0o644) }
      let (reader, owner) = (try scene.newHand(), try scene.hand())
      scene.must(reader.ask("become", "\(nobody)"), "becoming nobody")
      // It cannot say in the lock file that it reads, so that nobody may write meanwhile.
      scene.must(reader.ask("open", "a", store, "readonly=1"), "opening to read only")
      if scene.must(reader.ask("list", "a"), "reading").count != 1 {
        scene.fault("nothing to read")
      }
      scene.refused(
        owner.ask("open", "b", store), "opening beside it", "inUse", words: ["another user"])
      scene.must(owner.ask("open", "b", store, "readonly=1"), "opening to read beside it")
      scene.must(owner.ask("close", "b"), "closing")
      scene.must(reader.ask("close", "a"), "closing")
      scene.must(owner.ask("open", "b", store), "opening behind it")
      scene.refused(
        reader.ask("open", "a", store, "readonly=1"), "opening beside who writes", "inUse",
        words: ["another process has it open"])
      scene.must(owner.ask("close", "b"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("folder-writable-for-all") { scene in
      let store = try scene.makeStore()
      chmod(store, 0o777)
      scene.refused(
        try scene.hand().ask("open", "a", store), "opening", "unsafeFile", words: ["chmod o-w"])
      chmod(store, 0o700)
      try scene.verify(store)
    },
    EnvironmentCase("parent-writable-for-all") { scene in
      chmod(scene.folder, 0o1777)
      let store = try scene.makeStore()
      expectPrivate(store, scene)
      try scene.verify(store)
    },
    EnvironmentCase("umask-0") { scene in try underMask(0, scene) },
    EnvironmentCase("umask-077") { scene in try underMask(0o077, scene) },
    EnvironmentCase("umask-777") { scene in try underMask(0o777, scene) },
  ]

  private static let rightsOfFiles = files.map { file in
    EnvironmentCase("\(file)-of-another-user", needsRoot: true) { scene in
      let store = try scene.makeStore()
      chown(store + "/" + file, uid_t(nobody), gid_t(nobody))
      scene.refused(
        try scene.hand().ask("open", "a", store), "opening", "unsafeFile",
        words: [file, "user \(nobody)"])
      chown(store + "/" + file, 0, 0)
      try scene.verify(store)
    }
  }

  /// A user with no other rights makes a store, and `body` does what it cannot do; the store is
  /// sound afterwards, in the eyes of that user.
  private static func asNobody(
    _ scene: Scene, _ body: (Hand, String) throws -> Void
  ) throws {
    chmod(scene.folder, 0o777)
    let store = scene.path("store")
    let hand = try scene.newHand()
    scene.must(hand.ask("become", "\(nobody)"), "becoming nobody")
    scene.must(hand.ask("open", "a", store), "making a store")
    scene.must(scene.save(hand, "a", "made", at: store), "a save")
    scene.must(hand.ask("close", "a"), "closing")
    try body(hand, store)
    chmod(store, 0o700)
    try scene.verify(store, with: hand)
  }

  private static func underMask(_ mask: mode_t, _ scene: Scene) throws {
    let store = scene.path("store")
    let hand = try scene.newHand()
    scene.must(hand.ask("umask", "\(mask)"), "the mask")
    scene.must(hand.ask("open", "a", store), "opening")
    scene.must(scene.save(hand, "a", "a", at: store), "a save")
    scene.must(hand.ask("compact", "a"), "compacting")
    scene.must(hand.ask("backup", "a", scene.path("backup")), "a backup")
    expectPrivate(store, scene)
    expectPrivate(scene.path("backup"), scene)
    scene.must(hand.ask("close", "a"), "closing")
    try scene.verify(store)
  }

  /// Nobody else may look into the folder or its files.
  private static func expectPrivate(_ folder: String, _ scene: Scene) {
    if FileStatus(folder)?.rights != 0o700 {
      scene.fault("\(folder) has the rights \(FileStatus(folder)?.rights ?? 0)")
    }
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      let rights = FileStatus(folder + "/" + name)?.rights ?? 0
      if rights != 0o600 { scene.fault("\(name) has the rights \(String(rights, radix: 8))") }
    }
  }
}
