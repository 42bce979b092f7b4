import CBench
import Foundation
import Larder
import LarderRemote
import LarderSync

@Document struct SyncedNote: Codable, Equatable {
  var id: String
  var title: String
  var body: String
  var stars: Int
  var tags: [String]
  var changed: Date

  static func make(_ number: Int, version: Int = 0) -> SyncedNote {
    SyncedNote(
      id: String(format: "note-%08d", number), title: "Note \(number) of version \(version)",
      body: String(repeating: "What is written here is of no use. ", count: 4), stars: number % 6,
      tags: ["tag\(number % 17)", "tag\(number % 5)"],
      changed: Date(timeIntervalSinceReferenceDate: 8e8 + Double(number)))
  }
}

/// What syncing with a server costs: pushing and loading, the latter beside curl, which fetches the very same pages
/// and throws them away; and asking when nothing is new.
struct SyncStudy {
  let documents: Int
  let rounds: Int
  let folder: ScratchFolder
  let server: URL
  let token: String
  /// A scope that nobody else uses.
  let scope: String

  struct Row {
    let name: String
    let value: String
    let comparison: String
  }

  /// What can be asked for with `--only`.
  enum Part: String, CaseIterable {
    case outbox, push, load
  }

  func run(_ parts: [Part]) async throws -> [Row] {
    let remote = HTTPRemote(url: server) { [token] _ in token }
    let loads = parts.contains(.load)
    guard loads || parts.contains(.push) else { return [] }
    var rows = try await pushing(remote)
    if loads { rows += try await loading(remote) }
    return rows
  }

  // MARK: Up and down

  private func pushing(_ remote: HTTPRemote) async throws -> [Row] {
    let store = try store("pushed")
    defer { try? store.close() }
    let recording = RecordingRemote(remote)
    let engine = try engine(store, recording, account: "bench")
    let notes = store.repository(of: SyncedNote.self)
    try await engine.sync(.afterNow)
    var (pushes, times, processors): ([Double], [Double], [Double]) = ([], [], [])
    for round in 0..<rounds {
      let first = round * documents
      try await notes.save((first..<first + documents).map { SyncedNote.make($0) })
      recording.reset()
      let (start, processor) = (ContinuousClock.now, processorSeconds())
      try await engine.sync(.afterNow)
      times.append((ContinuousClock.now - start).inSeconds)
      pushes.append(((recording.firstPull ?? .now) - start).inSeconds)
      processors.append(processorSeconds() - processor)
      guard try engine.pending().isEmpty else {
        throw WrongResult(description: "edits were left: \(try engine.pending().prefix(3))")
      }
      // Each round has keys of its own, and leaves the scope as it was.
      if round < rounds - 1 {
        try await notes.save([], clearBeforeSaving: SyncedNote.all)
        try await engine.sync(.afterNow)
      }
    }
    guard let push = Spread(pushes), let time = Spread(times), let processor = Spread(processors)
    else { return [] }
    return [
      Row(
        name: "push \(documents) new documents",
        value: String(format: "%.0f a second", Double(documents) / push.median),
        comparison: String(
          format: """
            %.0f a second with the pull that brings their echoes, and %.0f us of processors here for each
            """, Double(documents) / time.median, processor.median / Double(documents) * 1e6))
    ]
  }

  private func loading(_ remote: HTTPRemote) async throws -> [Row] {
    // What was pushed shows to others once it is settled.
    let recording = RecordingRemote(remote)
    var (loads, fetches, memory): ([Double], [Double], [Double]) = ([], [], [])
    var polls: [Double] = []
    var pollCalls = 0
    var isWritten = false
    for round in 0..<rounds {
      let store = try store("loaded\(round)")
      let engine = try engine(store, recording, account: "bench")
      recording.reset()
      let before = residentByteCount()
      let start = ContinuousClock.now
      try await engine.sync(.afterNow)
      loads.append((ContinuousClock.now - start).inSeconds)
      memory.append(Double(residentByteCount() - before))
      let count = try store.repository(of: SyncedNote.self).count(SyncedNote.all)
      guard count == documents else {
        throw WrongResult(description: "\(count) documents were loaded, and not \(documents)")
      }
      fetches.append(try fetch(recording.cursors))
      // The echo of a first load settles with the next pull.
      try await engine.sync(.afterNow)
      recording.reset()
      let written = try lastWrite(of: "loaded\(round)")
      let poll = ContinuousClock.now
      try await engine.sync(.afterNow)
      polls.append((ContinuousClock.now - poll).inSeconds)
      pollCalls = recording.callCount
      isWritten = try lastWrite(of: "loaded\(round)") != written
      try store.close()
    }
    guard let load = Spread(loads), let fetch = Spread(fetches), let poll = Spread(polls),
      let growth = Spread(memory)
    else { return [] }
    return [
      Row(
        name: "first load of \(documents)",
        value: String(format: "%.0f a second", Double(documents) / load.median),
        comparison: String(
          format: "%.2f of curl's time for the same pages", load.median / fetch.median)),
      Row(
        name: "memory of a first load", value: String(format: "%.1f MB more", growth.median / 1e6),
        comparison: "anonymous, at its end"),
      Row(
        name: "nothing new", value: String(format: "%.1f ms", poll.median * 1e3),
        comparison: "\(pollCalls) request\(pollCalls == 1 ? "" : "s"), and the store is "
          + (isWritten ? "written to" : "not written to")),
    ]
  }

  /// When the store's file was last written to.
  private func lastWrite(of name: String) throws -> Date? {
    let file = folder.inner(name).path + "/data.mdb"
    return try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
  }

  /// Seconds that curl takes for the pages behind these cursors.
  private func fetch(_ cursors: [PullRequest]) throws -> Double {
    let file = folder.path + "/pages.curl"
    let pages = try cursors.map { request in
      let body: [String: Any] = [
        "scope": request.scope, "cursor": request.cursor as Any? ?? NSNull(),
        "limit": request.limit,
      ]
      let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
      let quoted = text.replacingOccurrences(of: "\"", with: "\\\"")
      return """
        url = "\(server.absoluteString)/pull"
        header = "Authorization: Bearer \(token)"
        header = "Content-Type: application/json"
        data = "\(quoted)"
        compressed
        silent
        output = "/dev/null"
        """
    }
    try pages.joined(separator: "\nnext\n").write(toFile: file, atomically: true, encoding: .utf8)
    let curl = Process()
    curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    curl.arguments = ["curl", "--config", file]
    let start = ContinuousClock.now
    try curl.run()
    curl.waitUntilExit()
    guard curl.terminationStatus == 0 else {
      throw WrongResult(description: "curl ended with status \(curl.terminationStatus)")
    }
    return (ContinuousClock.now - start).inSeconds
  }

  // MARK: What they share

  private func store(_ name: String) throws -> Store {
    var options = StoreOptions()
    options.durability = .recentCommitsMayBeLost
    return try Store(at: try folder.folder(name).url, options: options)
  }

  private func engine(
    _ store: Store, _ remote: any Remote, account: String
  ) throws -> SyncEngine {
    try SyncEngine(
      store, remote: remote, collections: [SyncedCollection(SyncedNote.self)], scopes: [scope],
      account: account, interval: .zero)
  }

  private func residentByteCount() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
    return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) << 10
  }

  static func table(_ rows: [Row]) -> String {
    let lines = rows.map { "| \($0.name) | \($0.value) | \($0.comparison) |" }
    return (["| sync | figure | beside |", "|---|---:|---|"] + lines).joined(separator: "\n")
  }
}
