import Foundation

extension EnvironmentCase {
  static let paths = [
    EnvironmentCase("relative-path") { scene in
      let hand = try scene.newHand()
      let store = scene.path("store")
      mkdir(scene.path("elsewhere"), 0o700)
      scene.must(hand.ask("chdir", scene.folder), "going there")
      scene.must(hand.ask("open", "a", "store"), "opening")
      scene.must(hand.ask("chdir", scene.path("elsewhere")), "going elsewhere")
      scene.must(scene.save(hand, "a", "a", at: store), "a save from elsewhere")
      scene.must(hand.ask("compact", "a"), "compacting from elsewhere")
      scene.must(hand.ask("open", "b", store), "opening by the whole path")
      scene.must(scene.save(hand, "b", "b", at: store), "a save")
      scene.must(hand.ask("close", "a"), "closing")
      scene.must(hand.ask("close", "b"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("current-folder") { scene in
      let hand = try scene.newHand()
      let store = scene.path("store")
      mkdir(store, 0o700)
      scene.must(hand.ask("chdir", store), "going there")
      scene.must(hand.ask("open", "a", "."), "opening")
      scene.must(scene.save(hand, "a", "a", at: store), "a save")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("dots-and-slashes") { scene in
      let store = try scene.makeStore()
      let hand = try scene.hand()
      mkdir(scene.path("beside"), 0o700)
      let paths = [
        store + "///", scene.folder + "//store", scene.folder + "/./store/.",
        scene.path("beside/../store/"), store + "/../store",
      ]
      for (number, path) in paths.enumerated() {
        scene.must(hand.ask("open", "s\(number)", path), "opening \(path)")
      }
      for number in paths.indices {
        scene.must(scene.save(hand, "s\(number)", "p\(number)", at: store), "a save")
      }
      for number in paths.indices { scene.must(hand.ask("close", "s\(number)"), "closing") }
      try scene.verify(store)
    },
    EnvironmentCase("path-too-long") { scene in
      let hand = try scene.hand()
      let long = String(repeating: "x", count: 300)
      let deep = scene.path(String(repeating: "y/", count: 3000) + "store")
      for path in [scene.path(long), deep] {
        scene.refused(
          hand.ask("open", "a", path), "opening", "system/\(ENAMETOOLONG)", words: ["shorter"])
      }
    },
    EnvironmentCase("path-with-zero-byte") { scene in
      // What C sees of it is the path of another store.
      let store = try scene.makeStore()
      for name in ["data.mdb", "larder.lock"] { scene.protect(store + "/" + name) }
      scene.refused(
        try scene.hand().ask("open", "a", store + "\0more"), "opening", "system/\(EINVAL)",
        words: ["zero byte", "take it out"])
      scene.refused(
        try scene.hand().ask("restore", store, scene.path("other") + "\0more"), "restoring",
        "system/\(EINVAL)")
      if access(scene.path("other"), F_OK) == 0 { scene.fault("another path was made") }
    },
    EnvironmentCase("path-not-text") { scene in
      let before = try names(in: scene)
      scene.refused(
        try scene.hand().ask("open-url", "a", "file://" + scene.path("store") + "%FF%FE"),
        "opening", "system/\(ENOENT)", words: ["UTF-8", "Check the path"])
      if try names(in: scene) != before { scene.fault("it made \(try names(in: scene))") }
    },
    EnvironmentCase("path-empty") { scene in
      scene.refused(
        try scene.hand().ask("open", "a", ""), "opening", "system/\(ENOENT)", words: ["path"])
    },
    EnvironmentCase("path-of-the-root") { scene in
      scene.refused(
        try scene.hand().ask("open", "a", "/"), "opening", "notAStore", words: ["data.mdb"])
    },
    EnvironmentCase("parent-missing") { scene in
      scene.refused(
        try scene.hand().ask("open", "a", scene.path("no/such/parent")), "opening",
        "system/\(ENOENT)", words: ["must exist"])
      if access(scene.path("no"), F_OK) == 0 { scene.fault("the parent was made") }
    },
    EnvironmentCase("parent-is-a-file") { scene in
      let victim = try scene.victim("file")
      scene.refused(
        try scene.hand().ask("open", "a", victim + "/store"), "opening", "system/\(ENOTDIR)",
        words: ["file"])
    },
  ]

  private static func names(in scene: Scene) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: scene.folder).sorted()
  }
}
