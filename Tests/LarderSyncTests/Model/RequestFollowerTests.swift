import Larder
import LarderTesting
import Testing

@testable import LarderSync

/// What models do when the request changes, told by streams that the test feeds.
@MainActor @Suite(.timeLimit(.minutes(20))) struct RequestFollowerTests {
  /// A follower, the streams of its requests, and what it has shown.
  @MainActor private final class Stage {
    let feeds = (0..<5).map { _ in EventFeed<String>() }
    private(set) var asked: [Int] = []
    private(set) var shown: [String] = []
    private(set) var follower: RequestFollower<Int, String>?

    init(refreshedBy updater: (any Updater)? = nil) {
      let follower = RequestFollower<Int, String>(0, refreshedBy: updater) { [unowned self] in
        asked.append($0)
        return feeds[$0].stream
      }
      follower.take = { [unowned self] in shown.append("\($0) of \($1)") }
      self.follower = follower
    }

    func release() { follower = nil }

    /// Returns when the stream of a request was begun, and has nothing yet.
    func waitForReading(_ request: Int) async { await feeds[request].waitForQuestions(1) }

    /// Gives a value to the stream of a request that is followed, and waits until it was taken.
    func show(_ value: String, _ request: Int) async {
      let questionCount = feeds[request].questionCount
      feeds[request].send(.value(value))
      await feeds[request].waitForQuestions(questionCount + 1)
    }
  }

  @Test("of requests that are made in one go only the last is read")
  func oneGo() async {
    let stage = Stage()

    stage.follower?.start()
    for request in 1...3 { stage.follower?.follow(request) }
    await stage.waitForReading(3)
    await stage.show("a", 3)
    stage.follower?.follow(1)
    stage.follower?.follow(2)
    await stage.waitForReading(2)

    #expect(stage.asked == [3, 2])
    #expect(stage.shown == ["a of 3"])
  }

  @Test(
    "while a request is read the last that was made waits, and what was read for another is dropped"
  )
  func superseded() async {
    let stage = Stage()
    stage.follower?.start()
    await stage.waitForReading(0)

    for request in 1...3 {
      stage.follower?.follow(request)
      // More than the turns that a new stream would take to begin.
      for _ in 0..<20 { await Task.yield() }
    }
    #expect(stage.asked == [0])
    stage.feeds[0].send(.value("a"))
    await stage.waitForReading(3)
    await stage.show("b", 3)

    #expect(stage.asked == [0, 3])
    #expect(stage.shown == ["b of 3"])
  }

  @Test("a failure to read what is not wanted any more is not told")
  func supersededFailure() async {
    let stage = Stage()
    stage.follower?.start()
    await stage.waitForReading(0)

    stage.follower?.follow(1)
    stage.feeds[0].send(.failure(Offline()))
    await stage.waitForReading(1)
    await stage.show("b", 1)

    #expect(stage.follower?.lastError == nil)
    #expect(stage.shown == ["b of 1"])
  }

  @Test("a request that was followed gives nothing any more when another one was made")
  func replaced() async {
    let stage = Stage()
    stage.follower?.start()
    await stage.waitForReading(0)
    await stage.show("a", 0)

    stage.feeds[0].send(.value("late"))
    stage.follower?.follow(1)
    await stage.waitForReading(1)
    stage.feeds[0].send(.value("later"))
    await stage.show("b", 1)

    #expect(stage.shown == ["a of 0", "b of 1"])
  }

  @Test("a request that cannot be read leaves what is shown, and another one can be made at once")
  func failure() async {
    let stage = Stage()
    stage.follower?.start()
    await stage.waitForReading(0)
    await stage.show("a", 0)

    stage.follower?.follow(1)
    await stage.waitForReading(1)
    stage.feeds[1].send(.failure(Offline()))
    await stage.feeds[1].waitForQuestions(2)
    #expect(stage.follower?.lastError as? Offline == Offline())
    #expect(stage.shown == ["a of 0"])
    stage.follower?.follow(2)
    await stage.waitForReading(2)
    await stage.show("c", 2)

    #expect(stage.shown == ["a of 0", "c of 2"])
  }

  @Test("what could not be read stays the error until it can be, however well the updater does")
  func unreadable() async {
    let updater = RecordingUpdater(.success(.alreadyCurrent))
    let stage = Stage(refreshedBy: updater)
    stage.follower?.start()
    await stage.waitForReading(0)
    stage.feeds[0].send(.failure(Offline(number: 1)))
    await stage.feeds[0].waitForQuestions(2)
    await updater.waitForEnds(1)

    await stage.follower?.refresh(.afterNow)
    #expect(stage.follower?.lastError as? Offline == Offline(number: 1))
    updater.outcome = .failure(Offline(number: 2))
    await stage.follower?.refresh(.afterNow)
    #expect(stage.follower?.lastError as? Offline == Offline(number: 2))
    updater.outcome = .success(.updated)
    await stage.follower?.refresh(.afterNow)
    #expect(stage.follower?.lastError as? Offline == Offline(number: 1))
    await stage.show("a", 0)

    #expect(stage.follower?.lastError == nil)
    #expect(stage.shown == ["a of 0"])
  }

  @Test("values take away the error of an earlier request, and none of a refresh")
  func earlierError() async {
    let updater = RecordingUpdater(.failure(Offline(number: 2)))
    let stage = Stage(refreshedBy: updater)
    stage.follower?.start()
    await stage.waitForReading(0)
    stage.feeds[0].send(.failure(Offline(number: 1)))
    await waitUntil { stage.follower?.lastError as? Offline == Offline(number: 2) }

    stage.follower?.follow(1)
    await stage.waitForReading(1)
    await stage.show("b", 1)

    #expect(stage.follower?.lastError as? Offline == Offline(number: 2))
    stage.follower?.dismissError()
    #expect(stage.follower?.lastError == nil)
  }

  @Test("the same request again does nothing, and one that is made before the start is the first")
  func same() async {
    let stage = Stage()
    stage.follower?.follow(1)
    #expect(stage.asked == [])
    stage.follower?.start()
    await stage.waitForReading(1)
    await stage.show("a", 1)

    stage.follower?.follow(1)
    await stage.show("b", 1)

    #expect(stage.asked == [1])
    #expect(stage.shown == ["a of 1", "b of 1"])
  }

  @Test("the updater is asked once, when something was read, and goes on when the request changes")
  func updater() async {
    let updater = RecordingUpdater(nil)
    let stage = Stage(refreshedBy: updater)
    stage.follower?.start()
    await stage.waitForReading(0)
    for _ in 0..<20 { await Task.yield() }
    #expect(updater.callCount == 0)
    await stage.show("a", 0)
    await updater.waitForCalls(1)

    stage.follower?.follow(1)
    await stage.waitForReading(1)
    await stage.show("b", 1)
    #expect(updater.runningCount == 1)
    updater.finish(.failure(Offline(number: 3)))
    await waitUntil { stage.follower?.lastError != nil }

    #expect(stage.follower?.lastError as? Offline == Offline(number: 3))
    #expect(updater.callCount == 1)
    #expect(stage.follower?.refreshCount == 0)
  }

  @Test(
    "one that is released while it reads, or follows, lets go of its streams and of the updater")
  func release() async {
    for isReading in [true, false] {
      let updater = RecordingUpdater(nil)
      let stage = Stage(refreshedBy: updater)
      weak let follower = stage.follower
      stage.follower?.start()
      await stage.waitForReading(0)
      if !isReading {
        await stage.show("a", 0)
        await updater.waitForCalls(1)
      }

      stage.release()
      await settle { follower == nil }
      if !isReading { await updater.waitForEnds(1) }
      stage.feeds[0].send(.value("late"))

      #expect(updater.runningCount == 0)
      #expect(stage.shown == (isReading ? [] : ["a of 0"]))
    }
  }
}
