import Foundation
import Larder
import LarderSync
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct SyncExampleTests {
  private let tests = URL(filePath: #filePath).deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    let root = tests.appending(path: "../../..").standardizedFileURL
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  private func code(_ text: String) -> [String] {
    text.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
  }

  @Test("what the articles show of syncing is what is tested")
  func isTheSame() throws {
    let source = try String(
      contentsOf: tests.appending(path: "SyncExample.swift"), encoding: .utf8)
    let article = code(
      try text("Sources/LarderSync/Documentation.docc/SingleSourceOfTruth.md"))
    let updaters = code(try text("Sources/LarderSync/Documentation.docc/Updaters.md"))
    let updaterSource = try String(
      contentsOf: tests.appending(path: "UpdaterExamples.swift"), encoding: .utf8)

    #expect(article.count == 4)
    #expect(updaters.count == 4)
    for shown in updaters { #expect(updaterSource.contains(shown), "\(shown)") }
    for shown in article {
      for part in shown.components(separatedBy: "\n\n") {
        #expect(source.contains(part.trimmingCharacters(in: .newlines)), "\(part)")
      }
    }
  }

  @Test("the list of the article's program goes on behind a message that nobody answers")
  func unanswered() async throws {
    try await withTemporaryStore { store in
      let stations: any Repository<Station, Station> = store.repository(of: Station.self)
      let presenter = RecordingPresenter()
      let log = Log()
      let offline = updater(of: stations, in: store) { throw Offline() }
      let task = Task {
        await show(stations, refreshedBy: offline, presenter) { rows in
          log.add(rows.map(\.name).joined(separator: ", "))
        }
      }
      await presenter.waitForMessages(1)

      for number in 1...20 {
        try await stations.save(Station(id: 1, name: "Platform \(number)"))
        await log.waitForLine("Platform \(number)")
      }

      #expect(presenter.messages == [Message("offline")])
      #expect(presenter.openCount == 1)
      task.cancel()
      await task.value
      await presenter.waitForAnswers(1)
      #expect(presenter.openCount == 0)
    }
  }

  @Test("the article's limiter tries again when its trigger fires")
  func triggered() async throws {
    try await withTemporaryStore { store in
      let trigger = RefreshTrigger()
      let limiter = limiter(in: store, listeningTo: trigger)
      await #expect(throws: Offline()) { try await limiter.run { throw Offline() } }

      trigger.fire()

      let status = try await limiter.run { .updated }
      #expect(status == .updated)
    }
  }

  @Test("the program in the article shows what is stored, then what is new, and errors beside it")
  func runs() async throws {
    try await withTemporaryStore { store in
      let stations: any Repository<Station, Station> = store.repository(of: Station.self)
      try await stations.save(Station(id: 1, name: "Oslo S"))
      let presenter = RecordingPresenter(answersAtOnce: true)
      let log = Log()
      func task(_ updater: some Updater) -> Task<Void, Never> {
        Task {
          await show(stations, refreshedBy: updater, presenter) { rows in
            log.add(rows.map(\.name).joined(separator: ", "))
          }
        }
      }

      let offline = updater(of: stations, in: store) { throw Offline() }
      let failing = task(offline)
      await presenter.waitForMessages(1)
      #expect(log.lines == ["Oslo S"])
      failing.cancel()
      await failing.value
      // Otherwise the next one would wait for a second, or less.
      await settle { !offline.limiter.isFetching }
      try await offline.limiter.forgetLastSuccess()
      let working = updater(of: stations, in: store) {
        Data(#"[{"id": 1, "name": "Oslo S"}, {"id": 2, "name": "Bergen"}]"#.utf8)
      }
      let succeeding = task(working)
      await log.waitForLine("Bergen, Oslo S")
      await settle { !working.limiter.isFetching }
      succeeding.cancel()
      await succeeding.value
      let status = try await updater(of: stations, in: store) { throw Offline() }.sync()

      #expect(status == .skipped)
      #expect(log.lines == ["Oslo S", "Oslo S", "Bergen, Oslo S"])
      #expect(presenter.messages == [Message("offline")])
    }
  }
}
