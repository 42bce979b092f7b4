import Foundation

// What the process does that has the store open.
extension EnvironmentCase {
  static let processes = [
    EnvironmentCase("forked-child-uses-the-store") { scene in
      let store = try scene.makeStore()
      let hand = try scene.hand()
      scene.must(hand.ask("open", "a", store), "opening")
      for deed in [["save", "a", "no", "no"], ["list", "a"], ["compact", "a"], ["close", "a"]] {
        hand.process.say((["forked"] + deed).map { $0.asWord }.joined(separator: " "))
        scene.refused(
          hand.answer(), "\(deed[0]) in a child", "usedAfterFork",
          words: ["Open the store again in the child"])
      }
      scene.must(scene.save(hand, "a", "parent", at: store), "a save of the parent")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("forked-child-opens-the-store") { scene in
      let store = try scene.makeStore()
      let hand = try scene.hand()
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(hand.ask("forked", "open", "b", store), "opening in a child")
      scene.must(scene.save(hand, "a", "parent", at: store), "a save of the parent")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("program-that-is-run-inherits-nothing") { scene in
      let store = try scene.makeStore()
      let hand = try scene.hand()
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(scene.save(hand, "a", "a", at: store), "a save")
      scene.must(hand.ask("compact", "a"), "compacting")
      let open = scene.must(hand.ask("inherited"), "running a program")
      if open.isEmpty { scene.fault("the program told nothing") }
      for line in open where line.contains(scene.folder) { scene.fault("inherited: \(line)") }
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("standard-descriptors-are-closed") { scene in
      let store = try scene.makeStore()
      let hand = try scene.newHand()
      // What is printed there must not arrive in the store's files.
      scene.must(hand.ask("open-without-standard", "a", store), "opening")
      scene.must(scene.save(hand, "a", "a", at: store), "a save")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("threads-open-at-once") { scene in
      let store = scene.path("store")
      let hand = try scene.newHand()
      for id in scene.must(hand.ask("open-at-once", store, "32"), "opening") {
        scene.remember(id, "n", at: store)
      }
      if scene.tally.acked != 32 { scene.fault("\(scene.tally.acked) of 32 threads saved") }
      try scene.verify(store)
    },
    EnvironmentCase("processes-open-at-once") { scene in
      let store = scene.path("store")
      let hands = try (0..<4).map { _ in try scene.newHand() }
      for hand in hands { hand.process.say("open-at-once \(store.asWord) 8") }
      for hand in hands {
        let ids = scene.must(hand.answer(), "opening")
        if ids.count != 8 { scene.fault("\(ids.count) of 8 threads saved") }
        for id in ids { scene.remember(id, "n", at: store) }
      }
      try scene.verify(store)
    },
    EnvironmentCase("no-home") { scene in
      let store = scene.path("store")
      let hand = try scene.newHand()
      scene.must(hand.ask("unset", "HOME"), "unsetting")
      scene.must(hand.ask("unset", "TMPDIR"), "unsetting")
      scene.must(hand.ask("open", "a", store), "opening")
      scene.must(scene.save(hand, "a", "a", at: store), "a save")
      scene.must(hand.ask("open-temporary", "t"), "a temporary store")
      scene.must(hand.ask("close", "t"), "closing it")
      scene.must(hand.ask("close", "a"), "closing")
      try scene.verify(store)
    },
    EnvironmentCase("no-temporary-folder") { scene in
      let hand = try scene.newHand(environment: ["TMPDIR": scene.path("missing")])
      scene.refused(hand.ask("open-temporary", "t"), "a temporary store", "system/\(ENOENT)")
    },
  ]
}
