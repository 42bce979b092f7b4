import Foundation
import LarderTesting
import Testing

@testable import Larder

@Document(as: "Story") private struct Story: Equatable {
  var id: Int
  var at: Int
  static let ageing: [Ageing<Story>] = [.keepNewest(100, by: \.at)]
}

@Document(as: "Photo") private struct Photo {
  var id: Int
  var at: Int
  var bytes = Data()
  static let ageing: [Ageing<Photo>] = [.keepNewest(byteCount: 2 << 20, by: \.at)]
}

/// The same without rules.
@Document(as: "Photo") private struct Negative {
  var id: Int
  var at: Int
  var bytes = Data()
}

@Suite("what is evicted is the oldest, whatever its size, and whatever waits to be sent")
struct AgeingBesideEditsTests {
  @Test(
    "unsent edits that are the oldest are too many until they are sent, and nothing newer goes for them"
  )
  func unsent() throws {
    try withTemporaryStore { store in
      try store.declare(Story.self)
      try store.prepareOutbox()
      try store.write(as: .sync) { try $0.setSynced("Story", true) }
      let stories = store.repository(of: Story.self)
      try stories.save((0..<100).map { Story(id: $0, at: $0) })
      let newest = (1000..<1010).map { Story(id: $0, at: $0) }

      try stories.save(newest, as: .sync)
      #expect(try store.evict(Story.self) == 0)
      #expect(try stories.count() == 110)

      try store.write(as: .sync) { tx in
        for id in 0..<100 {
          let number = UInt64(bitPattern: Int64(id) ^ .min).bigEndian
          try tx.setOutboxEntry("Story", withUnsafeBytes(of: number) { Array($0) }, to: nil)
        }
      }
      #expect(try store.evict(Story.self) == 10)
      #expect(
        try stories.fetch(Story.all.sorted(by: \.at)).map(\.id)
          == Array(10..<100) + Array(1000..<1010))
    }
  }

  @Test(
    "of large documents only so many go as are too much, although most are small",
    arguments: [true, false])
  func sizes(areOldest: Bool) throws {
    try withTemporaryStore { store in
      let negatives = store.repository(of: Negative.self)
      func negative(_ id: Int, _ byteCount: Int) -> Negative {
        Negative(id: id, at: id, bytes: Data(repeating: 7, count: byteCount))
      }
      let large = (0..<40).map { negative(areOldest ? $0 : $0 + 1000, 64 << 10) }
      let small = (100..<600).map { negative($0, 1000) }
      try negatives.save(large)
      try negatives.save(small)
      try store.declare(Photo.self)

      try store.evict(Photo.self)

      let statistics = try #require(try store.statistics().collections.first)
      #expect(statistics.byteCount <= 2 << 20)
      // One that is large has pages of its own; of small ones a page becomes free with the last.
      #expect(statistics.byteCount > (2 << 20) - (areOldest ? 128 << 10 : 512 << 10))
      let photos = try store.repository(of: Photo.self).fetch(Photo.all.sorted(by: \.at))
      #expect(photos.last?.id == (areOldest ? 599 : 1039))
      #expect(photos.count { $0.bytes.count == 1000 } == 500 || !areOldest)
      #expect(try store.check().isSound)
    }
  }
}
