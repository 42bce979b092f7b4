import LarderTestKit
import Testing

@testable import Larder

@Suite("a search index where there is no room")
struct SearchIndexSpaceTests {
  @Test("keeps nobody from deleting, and is built again when there is room", arguments: [1, 50])
  func deleting(count: Int) throws {
    var random = RandomSource()
    let folder = TestFolder()
    var options = StoreOptions(durability: .volatile)
    options.mapByteCount = 4 << 20
    let store = try Store(at: folder.store, options: options)
    let pamphlets = store.repository(of: Pamphlet.self)
    try store.declarePamphletWords()
    var keys: [Int] = []
    for _ in 0..<100_000 {
      let new = (0..<40).map { Pamphlet.random(keys.count + $0, &random) }
      do {
        try pamphlets.save(new)
        keys += new.map(\.id)
      } catch StoreError.full {
        break
      }
    }
    #expect(throws: StoreError.self) {
      try pamphlets.save((0..<4000).map { .random(keys.count + $0, &random) })
    }
    #expect(try store.check().problems == [], "\(random.hint)")

    keys.shuffle(using: &random)
    let kept = keys.suffix(200)
    var rest = keys.dropLast(200)
    // Where documents are deleted one by one, as many as may take what is kept for deleting.
    if count == 1 { rest = rest.prefix(1500) }
    while !rest.isEmpty {
      try pamphlets.delete(keys: Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    #expect(try store.check().problems == [], "\(random.hint)")
    if count > 1 {
      try store.collection("Pamphlet").buildIndexes()
      let all = try pamphlets.fetch(Pamphlet.all)
      #expect(Set(all.map(\.id)) == Set(kept))
      for word in ["oslo", "drafts", "sea"] {
        #expect(
          try store.pamphletFrequencies(of: word) == all.frequencies(of: word), "\(random.hint)")
      }
      #expect(try store.check().problems == [], "\(random.hint)")
    }
    try store.close()
  }
}
