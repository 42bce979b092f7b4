import LarderTesting
import Testing

@testable import Larder

@Document private struct Tune: Equatable {
  var id: Int
  var genre = "jazz"
}

@Document private struct Receipt: Equatable {
  var id: Int
}

/// Watchers of one collection while much happens in another.
@Suite struct UnrelatedChangesTests {
  @Test(
    "however many changes another collection has, a watcher is told what its own has",
    arguments: [4_096, 4_097, 20_000])
  func unrelated(count: Int) throws {
    try withTemporaryStore { store in
      let tunes = store.repository(of: Tune.self)
      try tunes.save((0..<100).map { Tune(id: $0) })
      let selection = Tune.all.selection
      var watch = ResultWatch(store, selection, RowReader<Tune, Tune>(selection))
      _ = try watch.next(skippingTo: 0)

      try store.repository(of: Receipt.self).save((0..<count).map { Receipt(id: $0) })
      #expect(try watch.next(skippingTo: 0) == nil)
      try store.repository(of: Receipt.self).save((0..<count).map { Receipt(id: -1 - $0) })
      try tunes.save(Tune(id: 100))
      let change = try #require(try watch.next(skippingTo: 0))

      guard case .update(let difference) = change else {
        Issue.record("it has read everything anew: \(change)")
        return
      }
      #expect(difference.insertions.map(\.model.id) == [100])
    }
  }
}
