import Foundation

// Others must know that a process reads, whatever becomes of the locks that LMDB says it by.
extension EnvironmentCase {
  static let readers = [
    EnvironmentCase("reader-copies-the-folder") { scene in
      let store = try scene.makeStore()
      let (writer, reader) = (try scene.hand(), try scene.newHand())
      scene.must(writer.ask("open", "a", store), "opening")
      scene.must(reader.ask("open", "b", store), "opening by the reader")
      try readsOn(scene, reader, "b", store) {
        scene.must(reader.ask("copy-folder", store, scene.path("copy")), "copying the folder")
      }
    },
    EnvironmentCase("reader-copies-the-folder-before-it-reads") { scene in
      let store = try scene.makeStore()
      let (writer, reader) = (try scene.hand(), try scene.newHand())
      scene.must(writer.ask("open", "a", store), "opening")
      scene.must(reader.ask("open", "b", store), "opening by the reader")
      scene.must(reader.ask("copy-folder", store, scene.path("copy")), "copying the folder")
      try readsOn(scene, reader, "b", store) {}
    },
    EnvironmentCase("reader-that-another-container-cannot-see", needsRoot: true) { scene in
      let store = try scene.makeStore()
      let (writer, reader) = (try scene.hand(), try scene.newHand())
      scene.must(writer.ask("open", "a", store), "opening")
      scene.must(reader.ask("open", "b", store), "opening by the reader")
      // From there nobody sees the process that reads.
      try readsOn(scene, reader, "b", store, besides: container) {}
    },
    EnvironmentCase("two-containers-with-one-process-id", needsRoot: true) { scene in
      let store = try scene.makeStore()
      let hands = [try scene.newHand(wrapper: container), try scene.newHand(wrapper: container)]
      scene.must(hands[0].ask("open", "a", store), "opening")
      scene.must(hands[0].ask("hold", "a"), "a snapshot")
      scene.refused(
        hands[1].ask("open", "b", store), "opening by the other", "processIDTaken",
        words: ["process id of this one, 1,", "container"])
      scene.must(hands[0].ask("release"), "letting go")
      scene.must(scene.save(hands[0], "a", "first", at: store), "a save")
      scene.must(hands[0].ask("close", "a"), "closing")
      scene.must(hands[1].ask("open", "b", store), "opening behind it")
      scene.must(hands[1].ask("close", "b"), "closing the other")
      try scene.verify(store)
    },
  ]

  /// Counts processes from one again.
  private static let container = [
    "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
  ]

  /// A snapshot of the reader's must stay what it is, while others open the store and its first hand,
  /// who has it open as `a`, writes.
  ///
  /// - Parameter wrapper: Runs the others that open it.
  private static func readsOn(
    _ scene: Scene, _ reader: Hand, _ name: String, _ store: String, besides wrapper: [String] = [],
    _ meanwhile: () -> Void
  ) throws {
    let writer = try scene.hand()
    let count = 2000
    guard scene.fill(writer, "a", "old", byteCount: 100, most: count, at: store) == count else {
      return
    }
    for round in 0..<3 {
      scene.must(reader.ask("hold", name), "a snapshot")
      if round == 0 { meanwhile() }
      let third = try scene.newHand(wrapper: wrapper)
      scene.must(third.ask("open", "c", store), "opening by a third process")
      scene.must(third.ask("close", "c"), "closing it")
      _ = scene.fill(writer, "a", "new\(round)", byteCount: 100, most: 300, at: store)
      scene.empty(writer, "a", "old", (round * 500)..<(round * 500 + 500), at: store)
      scene.must(reader.ask("release"), "reading on in the snapshot")
    }
    scene.must(scene.save(reader, name, "reader", at: store), "a save of the reader")
    scene.must(writer.ask("close", "a"), "closing")
    scene.must(reader.ask("close", name), "closing the reader")
    try scene.verify(store)
  }
}
