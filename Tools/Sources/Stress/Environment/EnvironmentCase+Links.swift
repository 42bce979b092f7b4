import Foundation

extension EnvironmentCase {
  /// The files of a store, each of which can be something else.
  static let files = ["data.mdb", "lock.mdb", "larder.lock"]

  static var links: [EnvironmentCase] {
    var cases = [
      EnvironmentCase("folder-is-a-link") { scene in
        let store = try scene.makeStore()
        let link = scene.path("link")
        symlink(store, link)
        for path in [link, link + "/", link + "//"] {
          scene.refused(
            try scene.hand().ask("open", "a", path), "opening \(path)", "unsafeFile",
            words: ["symbolic link", "link", "Nothing was touched"])
        }
        try scene.verify(store)
      },
      EnvironmentCase("folder-is-a-dangling-link") { scene in
        let target = scene.path("target")
        let link = scene.path("link")
        symlink(target, link)
        scene.refused(try scene.hand().ask("open", "a", link), "opening", "unsafeFile")
        if access(target, F_OK) == 0 { scene.fault("the link's target was made") }
      },
      EnvironmentCase("parent-is-a-link") { scene in
        let store = try scene.makeStore()
        symlink(scene.folder, scene.path("parent"))
        let hand = try scene.hand()
        scene.must(hand.ask("open", "a", store), "opening")
        scene.must(hand.ask("open", "b", scene.path("parent/store")), "opening through the link")
        scene.must(scene.save(hand, "b", "b", at: store), "a save")
        scene.must(scene.save(hand, "a", "a", at: store), "a save by the other name")
        scene.must(hand.ask("close", "a"), "closing")
        scene.must(hand.ask("close", "b"), "closing")
        try scene.verify(store)
      },
    ]
    for file in files {
      cases.append(
        EnvironmentCase("\(file)-is-a-link") { scene in
          try replaced(file, in: scene, says: "symbolic link") { path in
            let victim = try scene.victim("victim-file", victimBytes(file, scene))
            symlink(victim, path)
          }
        })
      cases.append(
        EnvironmentCase("\(file)-is-a-dangling-link") { scene in
          let target = scene.path("target")
          try replaced(file, in: scene, says: "symbolic link") { symlink(target, $0) }
          if access(target, F_OK) == 0 { scene.fault("the link's target was made") }
        })
      cases.append(
        EnvironmentCase("\(file)-is-a-hard-link") { scene in
          try replaced(file, in: scene, says: "names") { path in
            let victim = try scene.victim("victim-file", victimBytes(file, scene))
            link(victim, path)
          }
        })
    }
    return cases
  }

  static var kinds: [EnvironmentCase] {
    var cases: [EnvironmentCase] = []
    for file in files {
      cases.append(
        EnvironmentCase("\(file)-is-a-pipe") { scene in
          try replaced(file, in: scene, says: "pipe") { mkfifo($0, 0o600) }
        })
      cases.append(
        EnvironmentCase("\(file)-is-a-socket") { scene in
          try replaced(file, in: scene, says: "socket") { mknod($0, S_IFSOCK | 0o600, 0) }
        })
      cases.append(
        EnvironmentCase("\(file)-is-a-device", needsRoot: true) { scene in
          // As /dev/full: what is written there would be refused, what is read is zero.
          try replaced(file, in: scene, says: "device") { mknod($0, S_IFCHR | 0o600, 0x107) }
        })
      cases.append(
        EnvironmentCase("\(file)-is-a-folder") { scene in
          try replaced(file, in: scene, says: "folder") { mkdir($0, 0o700) }
        })
    }
    cases.append(
      EnvironmentCase("folder-is-a-file") { scene in
        let victim = try scene.victim("store")
        scene.refused(
          try scene.hand().ask("open", "a", victim), "opening", "unsafeFile",
          words: ["not a folder"])
      })
    cases.append(
      EnvironmentCase("folder-is-a-pipe") { scene in
        mkfifo(scene.path("store"), 0o600)
        scene.refused(
          try scene.hand().ask("open", "a", scene.path("store")), "opening", "unsafeFile",
          words: ["pipe"])
      })
    return cases
  }

  /// Puts something in the place of a store's file: opening is refused, to read only too where it is
  /// no regular file, and the store is as it was once the file is back.
  private static func replaced(
    _ file: String, in scene: Scene, says word: String, _ make: (String) throws -> Void
  ) throws {
    let store = try scene.makeStore()
    let path = store + "/" + file
    let aside = scene.path("aside")
    rename(path, aside)
    try make(path)
    let hand = try scene.hand()
    scene.refused(
      hand.ask("open", "a", store), "opening", "unsafeFile",
      words: [file, word, "remove or replace"])
    if word != "names" {
      scene.refused(
        hand.ask("open", "a", store, "readonly=1"), "opening to read only", "unsafeFile",
        words: [file, word])
    }
    if rmdir(path) != 0 { unlink(path) }
    rename(aside, path)
    try scene.verify(store)
  }

  /// What a file that is linked to holds: what LMDB or the library would take for their own.
  private static func victimBytes(_ file: String, _ scene: Scene) throws -> Data {
    // The file itself was moved aside.
    FileManager.default.contents(atPath: scene.path("aside")) ?? Data("precious\n".utf8)
  }
}
