import Foundation
import Larder
import LarderRemote
import LarderSync

/// What an outbox adds to a save, in a store whose documents came from a remote: each has a revision there, and an
/// edit keeps what it began with. Needs no server.
struct OutboxStudy {
  let documents: Int
  let rounds: Int
  let folder: ScratchFolder
  /// Whether each save waits for the disk, as apps have it unless they say otherwise.
  let isDurable: Bool

  private enum Work: String, CaseIterable {
    case new = "new"
    case changed = "changed"
    case changedAgain = "changed that waits already"
  }

  /// Seconds of a clock, and of processors.
  private struct Cost {
    var time: Double
    var processor: Double
  }

  func run() async throws -> [SyncStudy.Row] {
    try await prepare(isSynced: true)
    try await prepare(isSynced: false)
    var rows: [SyncStudy.Row] = []
    for (name, batch, count) in [
      ("one by one", 1, min(documents, isDurable ? 1_000 : 5_000)), ("by 100", 100, documents),
      ("all at once", documents, documents),
    ] {
      for work in Work.allCases {
        var (with, without): ([Cost], [Cost]) = ([], [])
        for round in 0..<rounds {
          for isSynced in round % 2 == 0 ? [true, false] : [false, true] {
            let cost = try save(count, by: batch, work, isSynced: isSynced)
            if isSynced { with.append(cost) } else { without.append(cost) }
          }
        }
        guard let time = Spread(with.map(\.time)), let plainTime = Spread(without.map(\.time)),
          let processor = Spread(with.map(\.processor)),
          let plainProcessor = Spread(without.map(\.processor))
        else { continue }
        rows.append(
          SyncStudy.Row(
            name: "save \(isDurable ? "durably " : "")\(name), \(work.rawValue)",
            value: String(format: "%.2f us a document", time.median / Double(count) * 1e6),
            comparison: String(
              format: "%.2f of the rate without an outbox, %.2f by processor time",
              plainTime.median / time.median, plainProcessor.median / processor.median)))
      }
    }
    return rows
  }

  /// A store with all documents, as they came from a remote; or as they were saved.
  private func prepare(isSynced: Bool) async throws {
    let store = try open(try folder.folder(isSynced ? "synced" : "plain"))
    if isSynced {
      let engine = try engine(store, GivingRemote(documents))
      try await engine.sync(.afterNow)
      guard try engine.pending().isEmpty else { throw WrongResult(description: "edits wait") }
    } else {
      try await store.repository(of: SyncedNote.self).save(
        (0..<documents).map { SyncedNote.make($0) })
    }
    let count = try store.repository(of: SyncedNote.self).count(SyncedNote.all)
    guard count == documents else { throw WrongResult(description: "\(count) documents are there") }
    try store.close()
  }

  private func save(_ count: Int, by batch: Int, _ work: Work, isSynced: Bool) throws -> Cost {
    let place = try folder.folder("saved")
    try place.copyFiles(from: folder.inner(isSynced ? "synced" : "plain"))
    let store = try open(place)
    var engine: SyncEngine?
    if isSynced { engine = try self.engine(store, ClosedRemote()) }
    defer { withExtendedLifetime(engine) {} }
    let notes = store.repository(of: SyncedNote.self)
    let first = work == .new ? documents : 0
    if work == .changedAgain { try notes.save((0..<count).map { SyncedNote.make($0, version: 1) }) }
    let new = (first..<first + count).map { SyncedNote.make($0, version: 2) }
    let (start, processor) = (ContinuousClock.now, processorSeconds())
    for first in stride(from: 0, to: count, by: batch) {
      try notes.save(Array(new[first..<min(first + batch, count)]))
    }
    let cost = Cost(
      time: (ContinuousClock.now - start).inSeconds, processor: processorSeconds() - processor)
    if let engine {
      let pending = try engine.pending().count
      guard pending == count else { throw WrongResult(description: "\(pending) edits wait") }
    }
    try store.close()
    return cost
  }

  private func open(_ place: ScratchFolder) throws -> Store {
    var options = StoreOptions()
    options.durability = isDurable ? .durable : .recentCommitsMayBeLost
    return try Store(at: place.url, options: options)
  }

  private func engine(_ store: Store, _ remote: any Remote) throws -> SyncEngine {
    try SyncEngine(
      store, remote: remote, collections: [SyncedCollection(SyncedNote.self)], scopes: ["notes"],
      account: "me", interval: .zero)
  }
}

/// A remote in this process that has so many notes, and takes nothing.
private struct GivingRemote: Remote {
  let count: Int

  init(_ count: Int) { self.count = count }

  func pull(_ request: PullRequest) async throws -> PullAnswer {
    let first = request.cursor.flatMap { Int($0) } ?? 0
    let end = min(first + request.limit, count)
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    let changes = try (first..<end).map { number in
      let note = SyncedNote.make(number)
      return RemoteChange(
        RemoteKey("SyncedNote", note.id), revision: UUID().uuidString.lowercased(),
        .document(try RemoteDocument(encoding: note, with: encoder)))
    }
    return PullAnswer(changes: changes, cursor: String(end), hasMore: end < count)
  }

  func push(_ request: PushRequest) async throws -> [PushResult] {
    throw RemoteError.unavailable("closed")
  }
}

/// What processors have worked for this process so far.
func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

extension Duration {
  var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
