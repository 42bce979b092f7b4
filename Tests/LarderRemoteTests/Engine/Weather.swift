import Larder
import LarderRemote
import LarderTestKit
import LarderTesting

@testable import LarderLMDB

/// What goes wrong between clients and server.
final class Weather: Sendable {
  private let random: Locked<RandomSource>
  private let fair = Locked(false)

  init(seed: UInt64) { random = Locked(RandomSource(seed: seed)) }

  var isFair: Bool {
    get { fair.withLock { $0 } }
    set { fair.withLock { $0 = newValue } }
  }

  /// After how many of so many mutations the server ends without an answer; nil where it does not.
  func endsServer(after count: Int) -> Int? {
    if isFair { return nil }
    return random.withLock { $0.once(in: 12) ? $0.int(0..<count + 1) : nil }
  }

  /// Whether it refuses an edit that it has not looked at.
  func rejects() -> Bool { !isFair && random.withLock { $0.once(in: 25) } }

  /// Whether an app knows what an edit should be instead.
  func mends() -> Bool { random.withLock { $0.once(in: 3) } }

  func fault(for call: RemoteCall) -> RemoteFault? {
    if isFair { return nil }
    return random.withLock { random in
      switch random.int(0..<20) {
      case 0...1: .fails(.unavailable("offline"))
      case 2...4: .losesAnswer
      case 5: .arrivesTwice
      case 6: .putsOff(behind: random.int(0..<3))
      case 7: .fails(.cursorExpired)
      default: nil
      }
    }
  }
}

/// Lines, from several threads.
final class Trace: Sendable {
  private let noted = Locked<[String]>([])

  var lines: [String] { noted.withLock { $0 } }

  func note(_ line: String) { noted.withLock { $0.append(line) } }
}

/// What comes of conflicts: of the documents that nobody deletes all edits stay, and of the others whatever.
final class Chooser: Sendable {
  private let random: Locked<RandomSource>
  private let copyCount = Locked(0)
  private let unsure = Locked<Set<String>>([])

  init(seed: UInt64) { random = Locked(RandomSource(seed: seed)) }

  /// - Parameter mayAsk: Whether somebody may be asked later.
  func resolution(of conflict: SyncConflict, mayAsk: Bool) -> Resolution {
    if conflict.reason?.contains("may have taken") == true {
      unsure.withLock { _ = $0.insert(conflict.key.key) }
    }
    let choice = random.withLock { $0.int(0..<8) }
    if choice < 3 { return mayAsk ? .ask : .merged }
    guard conflict.key.key.hasPrefix("gone") else { return .merged }
    return switch choice {
    case 3: .here
    case 4: .there
    case 5: .document(nil)
    case 6 where conflict.here != nil && conflict.there != nil: .both(key: .string(copyKey()))
    default: .merged
    }
  }

  /// Whether nobody could know how far the server had counted, when somebody was asked.
  func isUnsure(_ key: String) -> Bool { unsure.withLock { $0.contains(key) } }

  private func copyKey() -> String {
    "copy\(copyCount.withLock { $0 += 1; return $0 })"
  }
}
