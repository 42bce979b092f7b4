import Foundation

// What stands in the store's place was made by somebody else.
extension EnvironmentCase {
  static let foreign = [
    EnvironmentCase("data-is-a-text") { scene in
      try data(scene, Data(String(repeating: "Dear diary.\n", count: 1000).utf8), words: ["LMDB"])
    },
    EnvironmentCase("data-is-a-short-text") { scene in
      try data(scene, Data("Dear diary.\n".utf8), words: ["LMDB"])
    },
    EnvironmentCase("data-is-a-database-of-SQLite") { scene in
      // Its header, and pages with what the store itself would not take for zero.
      var bytes = Data("SQLite format 3\0".utf8) + Data([0x10, 0, 1, 1, 0, 64, 32, 32])
      bytes += Data((0..<16384 - bytes.count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      try data(scene, bytes, words: ["LMDB"])
    },
    EnvironmentCase("data-is-empty") { scene in
      try data(scene, Data(), words: ["empty"])
    },
    EnvironmentCase("data-is-zeros") { scene in
      try data(scene, Data(count: 65536), words: ["LMDB"])
    },
    EnvironmentCase("data-of-another-LMDB-format") { scene in
      // As LMDB 1.0 writes it: its version stands behind the magic number, in both meta pages.
      try edited(
        scene, find: [0xDE, 0xC0, 0xEF, 0xBE], "versionMismatch", words: ["LMDB 0.9", "export"]
      ) {
        $0[4] = 2
      }
    },
    EnvironmentCase("store-of-a-newer-format") { scene in
      try edited(
        scene, find: Array("LARDER\0\0\u{1}\0\0\0".utf8), "formatVersion", words: ["format"]
      ) { $0[8] = 200 }
    },
    EnvironmentCase("LMDB-file-of-somebody-else") { scene in
      let store = scene.path("store")
      mkdir(store, 0o700)
      let records = scene.path("records")
      try """
      VERSION=3
      format=print
      type=btree
      mapsize=1048576
      maxreaders=126
      HEADER=END
       greeting
       hello
      DATA=END

      """.write(toFile: records, atomically: true, encoding: .utf8)
      let load = try ChildProcess(["mdb_load", "-f", records, store])
      guard load.wait() == 0 else { throw UsageError("mdb_load failed") }
      unlink(store + "/lock.mdb")
      scene.protect(store + "/data.mdb")
      scene.refused(
        try scene.hand().ask("open", "a", store), "opening", "notAStore", words: ["state record"])
      scene.refused(
        try scene.hand().ask("open", "a", store, "readonly=1"), "opening to read only", "notAStore")
    },
    EnvironmentCase("folder-of-somebody-else") { scene in
      mkdir(scene.path("store"), 0o700)
      _ = try scene.victim("store/report.txt")
      scene.refused(
        try scene.hand().ask("open", "a", scene.path("store")), "opening", "notAStore",
        words: ["report.txt"])
      let names = try FileManager.default.contentsOfDirectory(atPath: scene.path("store"))
      if names != ["report.txt"] { scene.fault("it left \(names)") }
    },
    EnvironmentCase("nothing-to-read") { scene in
      scene.refused(
        try scene.hand().ask("open", "a", scene.path("store"), "readonly=1"), "opening",
        "system/\(ENOENT)", "missing", words: ["create"])
      if access(scene.path("store"), F_OK) == 0 { scene.fault("the folder was made") }
    },
    EnvironmentCase("data-file-alone") { scene in
      // As an app ships it, or a backup brings it back.
      let store = try scene.makeStore()
      unlink(store + "/lock.mdb")
      unlink(store + "/larder.lock")
      try scene.verify(store)
    },
    EnvironmentCase("lock-file-of-garbage") { scene in
      let store = try scene.makeStore()
      try Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 17 &+ 3) })
        .write(to: URL(fileURLWithPath: store + "/lock.mdb"))
      chmod(store + "/lock.mdb", 0o600)
      try scene.verify(store)
    },
    EnvironmentCase("opening-lock-of-garbage") { scene in
      let store = try scene.makeStore()
      try Data("what is this? \0\u{1}".utf8).write(to: URL(fileURLWithPath: store + "/larder.lock"))
      chmod(store + "/larder.lock", 0o600)
      try scene.verify(store)
    },
  ]

  /// These bytes stand in the place of a store's file.
  private static func data(_ scene: Scene, _ bytes: Data, words: [String]) throws {
    mkdir(scene.path("store"), 0o700)
    _ = try scene.victim("store/data.mdb", bytes)
    for option in [["readonly=0"], ["readonly=1"]] {
      scene.refused(
        try scene.hand().ask("open", "a", scene.path("store"), option[0]),
        "opening with \(option[0])", "notAStore", words: words)
    }
  }

  /// Every place in a store's file where `bytes` stand is edited.
  private static func edited(
    _ scene: Scene, find bytes: [UInt8], _ kind: String, words: [String],
    _ edit: (inout [UInt8]) -> Void
  ) throws {
    let store = try scene.makeStore()
    let path = store + "/data.mdb"
    let whole = FileManager.default.contents(atPath: path) ?? Data()
    var file = [UInt8](whole)
    for place in 0..<max(0, file.count - 16)
    where file[place..<place + bytes.count].elementsEqual(bytes) {
      var part = Array(file[place..<place + 16])
      edit(&part)
      file.replaceSubrange(place..<place + 16, with: part)
    }
    try Data(file).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o600)
    scene.protect(path)
    scene.refused(try scene.hand().ask("open", "a", store), "opening", kind, words: words)
    scene.refused(
      try scene.hand().ask("open", "a", store, "readonly=1"), "opening to read only", kind)
    scene.checkVictims()
    try whole.write(to: URL(fileURLWithPath: path))
    chmod(path, 0o600)
    try scene.verify(store)
  }
}
