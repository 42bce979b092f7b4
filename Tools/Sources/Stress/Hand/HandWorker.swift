import Foundation
import Larder

/// Does what it is told, line by line, and answers each line with `ok WORD...` or
/// `error KIND TEXT`.
struct HandWorker: Worker {
  static let role = "hand"

  static func run(_ arguments: [String]) throws {
    let hand = HandWorker()
    while let line = readLine() {
      let words = line.split(separator: " ").map { String($0).fromWord }
      guard let name = words.first else { continue }
      let answer: [String]
      do {
        answer = ["ok"] + (try hand.perform(name, Array(words.dropFirst())))
      } catch {
        let error = (error as? ErrorWords.Told)?.words ?? ErrorWords(error)
        answer = ["error", error.kind, error.text]
      }
      say(answer.map { $0.asWord }.joined(separator: " "))
    }
  }

  let stores = StoreShelf()
  let warnings = Results()

  func perform(_ name: String, _ words: [String]) throws -> [String] {
    if let done = try performOnStore(name, words) { return done }
    if let done = try performOnProcess(name, words) { return done }
    throw UsageError("a hand cannot \(name)")
  }
}

/// The stores of a hand by the names that it was told.
// Guard: everything but `holding` is touched by the main thread only.
final class StoreShelf: @unchecked Sendable {
  private var stores: [String: Store] = [:]
  private var holds: [Hold] = []
  private typealias Hold = (
    release: DispatchSemaphore, done: DispatchSemaphore, failure: FailureBox
  )
  var descriptors: [Int32] = []

  func put(_ store: Store, _ name: String) { stores[name] = store }

  func store(_ name: String) throws -> Store {
    guard let store = stores[name] else { throw UsageError("no store \(name)") }
    return store
  }

  func remove(_ name: String) { stores[name] = nil }

  /// Opens a snapshot on a thread of its own, which holds it until ``release()``.
  func hold(_ store: Store) throws {
    let (begun, release, done) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let failure = FailureBox()
    let thread = Thread {
      do {
        try store.read { snapshot in
          let before = try snapshot.fetch(Crate.all)
          begun.signal()
          release.wait()
          let (count, after) = (try snapshot.count(Crate.all), try snapshot.fetch(Crate.all))
          guard after == before, count == before.count else {
            throw UsageError(
              "a snapshot of \(before.count) has \(count) by its count, and \(after.count)")
          }
        }
      } catch {
        failure.error = error
        begun.signal()
      }
      done.signal()
    }
    thread.start()
    begun.wait()
    if let error = failure.error { throw error }
    holds.append((release, done, failure))
  }

  /// Ends the snapshots, each of which must be what it was.
  func release() throws {
    defer { holds = [] }
    for hold in holds {
      hold.release.signal()
      hold.done.wait()
    }
    for hold in holds { if let error = hold.failure.error { throw error } }
  }
}

// Guard: written by one thread before it signals, read by the other after it has waited.
private final class FailureBox: @unchecked Sendable {
  var error: (any Error)?
}

extension ErrorWords {
  /// An error that another process told.
  struct Told: Error {
    let words: ErrorWords
  }
}
