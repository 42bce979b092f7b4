import Foundation
import Larder
import LarderLMDB
import LarderSync
import LarderTesting

extension TestProcess {
  /// A refresh that its parent said is to fail.
  private struct Refused: Error {}

  /// Shows a stream of notes that a limiter with a name refreshes once a minute, by a clock that its
  /// parent turns.
  ///
  /// Says `request` when the remote is asked, `saving` in the middle of a save that is held, and
  /// `waits SECONDS FAILURE` when the stream waits for time to pass, with the type of the last failure, if
  /// there is one. The parent says `advance SECONDS`, and of a request `answer`, `refuse`, or `hold`.
  static func refresh(_ folder: String) throws {
    let store = try Store(at: folder)
    let notes = store.repository(of: Note.self)
    let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 8e8))
    let limiter = FetchLimiter(
      minimumInterval: .seconds(60), named: "notes", in: store,
      retrying: Backoff(random: { 1 }), clock: clock)
    let (words, word) = AsyncStream<String>.makeStream()
    let updater = RemoteUpdater(limiter: limiter) {
      say("request")
      // Each request takes one word.
      let answer = await words.first { _ in true }
      if answer == "refuse" { throw Refused() }
      let note = Note(id: "\(clock.date)", nonce: "", batchCount: 1)
      return .fromRemote((note: note, isHeld: answer == "hold"))
    } save: { (answer: (note: Note, isHeld: Bool), origin) in
      if answer.isHeld {
        try await store.write { tx in
          try tx.save(answer.note)
          say("saving")
          while true { pause() }
        }
      }
      return try await notes.save(answer.note, as: origin)
    }
    Task.detached {
      for await _ in notes.stream(Note.all, refreshedBy: updater) {}
    }
    Task.detached {
      var count = 0
      while true {
        count += 1
        await clock.waitForSleeps(count)
        let failure = limiter.refreshState.lastFailure.map { " \(type(of: $0))" } ?? ""
        say("waits \(clock.sleepDurations[count - 1] / .seconds(1))\(failure)")
      }
    }
    while let line = nextLine() {
      let parts = line.split(separator: " ")
      if parts.first == "advance" {
        clock.advance(by: .seconds(Int(parts[1]) ?? 0))
      } else {
        word.yield(line)
      }
    }
  }

  /// What the parent says next; nil at its end.
  private static func nextLine() -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(0, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return nil
  }
}
