import CStress
import Foundation
import Larder
import LarderRemote
import LarderSync

/// A client with a store of its own, which edits and syncs until it is killed, or told to stop. Arguments: the store's
/// folder, the server's URL, token, scope, the name of this start, seed, `edits` or `waits`.
///
/// Prints `up`; `a ID` once an edit is kept; `stopped` after `stop`; after `sync` what came of one, as
/// `synced STATUS PENDING REFUSED`.
enum SyncClient: Worker {
  static let role = "sync"

  static func run(_ arguments: [String]) throws {
    stress_end_with_parent()
    guard arguments.count == 7, let url = URL(string: arguments[1]), let seed = UInt64(arguments[5])
    else { throw UsageError("sync FOLDER URL TOKEN SCOPE NAME SEED edits|waits") }
    let store = try Store(at: URL(fileURLWithPath: arguments[0], isDirectory: true))
    let (token, scope) = (arguments[2], arguments[3])
    var options = HTTPRemoteOptions()
    options.takesHints = false
    let engine = try SyncEngine(
      store, remote: HTTPRemote(url: url, options: options) { _ in token },
      collections: [SyncedCollection(SyncedCard.self, rules: SyncedCard.rules)], scopes: [scope],
      account: "trial", interval: .zero)
    try store.declare(SyncedEdit.self)
    say("up")
    let isEditing = arguments[6] == "edits"
    let editor = Task.detached {
      do {
        guard isEditing else { return }
        var edits = SyncedEdits(store, scope: scope, name: arguments[4], seed: seed)
        while !Task.isCancelled { try await edits.make() }
      } catch is CancellationError {
      } catch {
        say("error \(error)")
      }
    }
    let syncer = Task.detached {
      while isEditing, !Task.isCancelled {
        await sync(engine)
        // Cut short when it is told to stop.
        try? await Task.sleep(for: .milliseconds(30))
      }
    }
    while let line = readLine() {
      switch line {
      case "stop":
        editor.cancel()
        syncer.cancel()
        wait { [editor, syncer] in
          await editor.value
          await syncer.value
        }
        say("stopped")
      case "sync":
        wait {
          let status = await sync(engine)
          // A document that was deleted while its tombstone was forgotten may have moved out of sight. Here none does.
          for edit in (try? engine.rejected()) ?? [] where edit.code == "left" {
            try? await engine.retry(edit.key)
          }
          let pending = (try? engine.pending().count) ?? -1
          let refused = (try? engine.refused().count) ?? -1
          say("synced \(status) \(pending) \(refused)")
        }
      default:
        try store.close()
        return
      }
    }
  }

  /// Servers that cannot answer are what is to be expected here, and nothing else is.
  @discardableResult
  private static func sync(_ engine: SyncEngine) async -> String {
    do {
      return "\(try await engine.sync(.afterNow))"
    } catch RemoteError.unavailable {
      return "unavailable"
    } catch is CancellationError {
      return "cancelled"
    } catch {
      say("error of a sync: \(error)")
      return "failed"
    }
  }

  private static func wait(_ body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      await body()
      done.signal()
    }
    done.wait()
  }
}

/// Edits at random, each noted in the transaction that makes it.
struct SyncedEdits {
  private let store: Store
  private let scope: String
  private let name: String
  private var generator: SeededGenerator
  private var number = 0

  init(_ store: Store, scope: String, name: String, seed: UInt64) {
    self.store = store
    self.scope = scope
    self.name = name
    generator = SeededGenerator(seed: seed)
  }

  mutating func make() async throws {
    if Int.random(in: 0..<8, using: &generator) == 0 {
      try await editDeleted()
    } else {
      try await editKept()
    }
    let pause = Int.random(in: 0..<60, using: &generator)
    if pause > 0 { try await Task.sleep(for: .milliseconds(pause)) }
  }

  private mutating func editKept() async throws {
    let card = "\(scope)-\(SyncedCard.names.randomElement(using: &generator) ?? "a")"
    var edit = SyncedEdit(id: "\(name)-\(number)", card: card)
    number += 1
    let kind = Int.random(in: 0..<4, using: &generator)
    let amount = Int.random(in: 1..<6, using: &generator)
    let removesFirst = Int.random(in: 0..<3, using: &generator) == 0
    edit = try await store.write { [edit] tx in
      var edit = edit
      // Equal documents that two clients make are one document, and no edit of each.
      var card =
        try tx.get(SyncedCard.self, edit.card) ?? SyncedCard(id: edit.card, title: edit.id)
      switch kind {
      case 0, 1:
        card.count += amount
        edit.added = amount
      case 2:
        if removesFirst, card.tags.count > 1 { edit.removed = card.tags.removeFirst() }
        card.tags.append(edit.id)
        edit.tag = edit.id
      default:
        card.title = edit.id
        card.spot.x = amount
        if removesFirst { card.spot.y = amount }
      }
      try tx.save(card)
      try tx.save(edit)
      return edit
    }
    say("a \(edit.id)")
  }

  private mutating func editDeleted() async throws {
    let id = "\(scope)-\(SyncedCard.deletedName)"
    let title = "\(name)-\(number)"
    number += 1
    let deletes = Bool.random(using: &generator)
    try await store.write { tx in
      if deletes {
        _ = try tx.delete(SyncedCard.self, keys: [id])
      } else {
        try tx.save(SyncedCard(id: id, title: title))
      }
    }
  }
}
