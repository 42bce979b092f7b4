import Foundation

extension FullCase {
  static let readers = [
    FullCase("readers") { scene in
      let store = scene.path("store")
      let hands = [try scene.newHand(), try scene.newHand()]
      for hand in hands { scene.must(hand.ask("open", "a", store, "readers=6"), "opening") }
      scene.must(scene.save(hands[0], "a", "before", at: store), "a save")
      var count = 0
      var isFull = false
      while !isFull, count < 20 {
        let answer = hands[count % 2].ask("hold", "a")
        if case .done = answer {
          count += 1
        } else {
          isFull = true
          scene.refused(answer, "one more snapshot", "readersFull", words: ["maximumReaderCount"])
        }
      }
      if !isFull || count < 3 { scene.fault("\(count) snapshots of 6") }
      // Of those who write none has been taken.
      scene.must(scene.save(hands[0], "a", "full", at: store), "a save while there is no slot")
      hands[0].process.say("release")
      scene.must(hands[0].answer(), "letting go")
      scene.must(hands[0].ask("list", "a"), "reading again")
      // A process keeps the slots that it has had, for itself.
      scene.must(hands[0].ask("close", "a"), "closing")
      scene.must(hands[1].ask("list", "a"), "reading, as the other has closed")
      scene.must(hands[1].ask("release"), "letting go")
      scene.must(hands[1].ask("close", "a"), "closing")
      try scene.verify(store)
    },
    FullCase("readers-that-died") { scene in
      let store = scene.path("store")
      let hand = try scene.newHand()
      scene.must(hand.ask("open", "a", store, "readers=6"), "opening")
      scene.must(scene.save(hand, "a", "before", at: store), "a save")
      let dead = try scene.newHand()
      scene.must(dead.ask("open", "a", store, "readers=6"), "opening")
      var count = 0
      while count < 20, case .done = dead.ask("hold", "a") { count += 1 }
      if count < 3 || count == 20 { scene.fault("\(count) snapshots of 6") }
      dead.process.kill()
      // The slots are given back to whoever needs one.
      scene.must(hand.ask("hold", "a"), "a snapshot")
      scene.must(hand.ask("hold", "a"), "another snapshot")
      scene.must(scene.save(hand, "a", "behind", at: store), "a save")
      scene.must(hand.ask("release"), "letting go")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    FullCase("suspended-reader-goes-on") { scene in
      try suspended(scene) { reader in
        kill(reader.process.id, SIGCONT)
        scene.must(reader.ask("release"), "letting go")
        scene.must(reader.ask("close", "a"), "closing the reader")
      }
    },
    FullCase("suspended-reader-dies") { scene in
      try suspended(scene) { $0.process.kill() }
    },
  ]

  /// A process is stopped while it holds a snapshot, and the store is written over and over: the
  /// file grows, and somebody hears of it. Once the reader is gone the pages are used again, and a
  /// compaction gives them back.
  private static func suspended(_ scene: Scene, _ end: (Hand) throws -> Void) throws {
    let store = scene.path("store")
    let (writer, reader) = (try scene.newHand(), try scene.newHand())
    scene.must(writer.ask("open", "a", store), "opening")
    let prefix = scene.nonce()
    let count = scene.fill(writer, "a", prefix, byteCount: 2000, most: 200, at: store)
    scene.must(reader.ask("open", "a", store), "opening to read")
    scene.must(reader.ask("hold", "a"), "a snapshot")
    kill(reader.process.id, SIGSTOP)
    let before = sizes(writer, scene)
    var ids = 0
    let large = max(6 * before.file, 10 << 20)
    while sizes(writer, scene).file < large, ids < 20 {
      // The same crates, each anew: what is live stays the same.
      scene.empty(writer, "a", prefix, 0..<count, at: store)
      _ = scene.fill(writer, "a", prefix, byteCount: 2000, most: count, at: store)
      ids += 1
    }
    let grown = sizes(writer, scene)
    if grown.file < large { scene.fault("the snapshot kept nothing: \(before), \(grown)") }
    let warnings = scene.must(writer.ask("warnings"), "what was warned of")
    if !warnings.contains(where: { $0.contains("compact") }) {
      scene.fault("nobody was warned of a file of \(grown.file) bytes: \(warnings)")
    }
    try end(reader)
    // An opening looks for readers that died; a store that stays open does it now and then.
    let other = try scene.newHand()
    scene.must(other.ask("open", "b", store), "opening by another process")
    scene.must(other.ask("close", "b"), "closing it")
    for _ in 0..<2 {
      scene.empty(writer, "a", prefix, 0..<count, at: store)
      _ = scene.fill(writer, "a", prefix, byteCount: 2000, most: count, at: store)
    }
    let used = sizes(writer, scene)
    if used.file > grown.file + grown.file / 8 {
      scene.fault("the free pages are not used again: \(grown), \(used)")
    }
    scene.must(writer.ask("compact", "a"), "compacting")
    let compacted = sizes(writer, scene)
    if compacted.file > 2 * compacted.used {
      scene.fault("the file is more than twice what is in it: \(compacted)")
    }
    scene.must(writer.ask("close", "a"), "closing")
    try scene.verify(store)
  }

  private static func sizes(_ hand: Hand, _ scene: Scene) -> (file: Int, used: Int) {
    let words = scene.must(hand.ask("statistics", "a"), "statistics")
    func number(_ name: String) -> Int {
      words.first { $0.hasPrefix(name + "=") }.flatMap { Int($0.dropFirst(name.count + 1)) } ?? 0
    }
    return (number("file"), number("used"))
  }
}
