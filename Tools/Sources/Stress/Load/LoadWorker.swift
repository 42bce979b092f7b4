import CStress
import Foundation
import Larder

/// A document of the load: when it was saved says how long news of it took.
@Document
struct LoadItem: Equatable {
  var id: Int
  @Indexed var group: Int
  /// By the clock that all processes share.
  var savedAt: Int
  var text: String

  static let count = 20_000
  static let groupCount = 100
}

/// Writes, reads or watches until it is killed. Arguments: folder, store's folder, number of the
/// process, `write`, `read` or `watch`, seed.
enum LoadWorker: Worker {
  static let role = "load"

  static func run(_ arguments: [String]) throws {
    stress_end_with_parent()
    guard arguments.count == 5, let process = Int(arguments[2]), let seed = UInt64(arguments[4])
    else { throw UsageError("load FOLDER STORE PROCESS write|read|watch SEED") }
    let meter = try LoadMeter(
      in: URL(fileURLWithPath: arguments[0], isDirectory: true), process: process)
    let store = try Store(at: URL(fileURLWithPath: arguments[1], isDirectory: true))
    var generator = SeededGenerator(seed: seed)
    say("open")
    switch arguments[3] {
    case "write": try write(store, meter, &generator)
    case "read": try read(store, meter, &generator)
    default: try watch(store, meter, group: process % LoadItem.groupCount)
    }
  }

  private static func write(
    _ store: Store, _ meter: LoadMeter, _ generator: inout SeededGenerator
  ) throws {
    let items = store.repository(of: LoadItem.self)
    while true {
      let start = stress_now()
      let documents = (0..<Int.random(in: 1...10, using: &generator)).map { _ in
        let id = Int.random(in: 0..<LoadItem.count, using: &generator)
        return LoadItem(
          id: id, group: id % LoadItem.groupCount, savedAt: Int(start),
          text: String(repeating: "larder ", count: Int.random(in: 0..<40, using: &generator)))
      }
      try items.save(documents)
      meter.note(nanoseconds: stress_now() - start)
    }
  }

  private static func read(
    _ store: Store, _ meter: LoadMeter, _ generator: inout SeededGenerator
  ) throws {
    let items = store.repository(of: LoadItem.self)
    while true {
      let number = Int.random(in: 0..<LoadItem.count * 10, using: &generator)
      let start = stress_now()
      if number % 10 == 0 {
        let group = number / 10 % LoadItem.groupCount
        _ = try items.fetch(LoadItem.where { $0.group == group }.limit(20))
      } else {
        _ = try store.read { try $0.get(LoadItem.self, number / 10) }
      }
      meter.note(nanoseconds: stress_now() - start)
    }
  }

  private static func watch(_ store: Store, _ meter: LoadMeter, group: Int) throws {
    let items = store.repository(of: LoadItem.self)
    let token = try store.changeToken()
    meter.sequence = token.sequence
    Task.detached {
      do {
        for try await batch in store.changes(after: token) { meter.sequence = batch.token.sequence }
      } catch {
        say("error \(error)")
      }
    }
    try waiting {
      for try await change in items.watch(LoadItem.where { $0.group == group }) {
        guard case .update(let difference) = change else { continue }
        let now = stress_now()
        for item in difference.insertions.map(\.model) + difference.updates.map(\.model) {
          let saved = UInt64(item.savedAt)
          meter.note(nanoseconds: now > saved ? now - saved : 0)
        }
      }
    }
  }
}
