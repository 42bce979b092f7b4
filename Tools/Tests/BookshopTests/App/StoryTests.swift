import Foundation
import LarderRemote
import LarderTesting
import Testing

@testable import Bookshop

/// A story of the app's page: what the reader does, what the shop does, and what is seen.
struct Story: CustomTestStringConvertible, Sendable {
  enum Step: Sendable, Equatable {
    /// `Note over Shop: lists Almanac`
    case note(subject: String, text: String)
    /// `Reader->>Bookshop: open almanac`
    case command(String, device: String)
    /// `Bookshop-->>Reader: catalogue: Almanac`
    case seen(screen: String, text: String, device: String)
  }

  let title: String
  /// Nil where a line is none of these.
  let steps: [Step]?

  var testDescription: String { title }

  /// All stories of the page.
  static let all: [Story] = {
    // A page that cannot be read gives no arguments, which `told` finds out.
    let page = (try? Diagram.text("README.md")) ?? ""
    let parts = page.components(separatedBy: "\n### ").dropFirst()
    return parts.map { part in
      let lines = part.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      let steps = lines.dropFirst().filter { !$0.hasPrefix("```") && $0 != "sequenceDiagram" }
        .map(step)
      return Story(title: lines[0], steps: steps.contains(nil) ? nil : steps.compactMap(\.self))
    }
  }()

  private static func step(_ line: String) -> Step? {
    let parts = line.split(separator: ": ", maxSplits: 2).map(String.init)
    switch parts.first {
    case let first? where first.hasPrefix("Note over ") && parts.count == 2:
      let subject = String(first.dropFirst("Note over ".count))
      guard ["Shop", "Server", "Bookshop"].contains(subject) else { return nil }
      return .note(subject: subject, text: parts[1])
    case "Reader->>Bookshop" where parts.count == 2, "Reader->>Tablet" where parts.count == 2:
      return .command(parts[1], device: String(parts[0].dropFirst("Reader->>".count)))
    case "Bookshop-->>Reader" where parts.count == 3, "Tablet-->>Reader" where parts.count == 3:
      return .seen(screen: parts[1], text: parts[2], device: String(line.prefix { $0 != "-" }))
    default: return nil
    }
  }
}

extension WholeAppTests {
  @MainActor @Suite(.timeLimit(.minutes(20))) struct StoryTests {
    @Test("the page has its stories, with the three failures among them")
    func told() throws {
      #expect(
        Story.all.map(\.title) == [
          "A new reader opens a book", "The code is wrong", "The card is declined",
          "The shop cannot be reached", "The shop is back after a while",
          "The reader is back", "The shop answers with an error",
          "The shop leaves a book out for a day", "The reader has two devices",
        ])
      for story in Story.all {
        let steps = try #require(story.steps, "\(story.title)")
        #expect(steps.contains { if case .seen = $0 { true } else { false } })
      }
    }

    @Test("every story of the page is what happens", arguments: Story.all)
    func played(_ story: Story) async throws {
      let steps = try #require(story.steps)
      try await withStoreFolder { folder in
        try await withStoreFolder { other in
          let stage = Stage(folders: ["Bookshop": folder, "Tablet": other])
          for step in steps {
            switch step {
            case .note(let subject, let text): try await stage.note(subject, text)
            case .command(let text, let device): try await stage.perform(text, device)
            case .seen(let screen, let text, let device):
              try await stage.see(screen, text, device)
            }
          }
          #expect(try stage.app("Bookshop").refusals == [])
        }
      }
    }
  }
}

/// The apps of a story, each of which is started by the first thing that is asked of it.
@MainActor private final class Stage {
  /// By device.
  private let folders: [String: URL]
  private let server = ScriptedServer()
  /// Where the devices meet, in a story that has such a server.
  private var syncServer: InMemoryRemote?
  private var product = Product.open
  private var running: [String: TestApp] = [:]
  private var seenMessageCount = 0

  init(folders: [String: URL]) { self.folders = folders }

  func app(_ device: String) throws -> TestApp {
    if let app = running[device] { return app }
    let app = try TestApp(
      in: #require(folders[device]), product: product, server: server,
      reader: syncServer.map { SyncedReader(name: "anna", scope: "anna", remote: $0) })
    running[device] = app
    return app
  }

  func note(_ subject: String, _ text: String) async throws {
    let words = text.split(separator: " ").map(String.init)
    switch (subject, words.first) {
    case ("Shop", "lists"):
      let titles = text.dropFirst("lists ".count).components(separatedBy: ", ")
      await server.serve(titles.map { Listing.example($0.lowercased(), $0) })
    case ("Shop", "cannot"): await server.fail(ServerError.unreachable("nobody is there"))
    case ("Shop", "answers"):
      await server.fail(ServerError.status(try #require(Int(words[1]))))
    case ("Server", "is"):
      let server = syncServer ?? InMemoryRemote()
      let isDown = words.last == "down"
      server.script { _, _ in isDown ? .fails(.unavailable("nobody is there")) : nil }
      syncServer = server
    case ("Bookshop", "waits"):
      let clock = try app("Bookshop").clock
      // The stream has to wait for time to pass before it does.
      while clock.sleeperCount == 0, !Task.isCancelled { await Task.yield() }
      clock.advance(by: .seconds(try #require(Int(words[1]))))
    case ("Bookshop", "is") where words[1] == "started":
      running = [:]
      seenMessageCount = 0
    case ("Bookshop", "is"): product = try #require(Product(rawValue: words.last ?? ""))
    default: Issue.record("nobody knows how to do this: \(subject) \(text)")
    }
  }

  /// Does what the reader does, on the screen on which it means something.
  func perform(_ text: String, _ device: String) async throws {
    let app = try app(device)
    let words = text.split(separator: " ", maxSplits: 1).map(String.init)
    let screens = [
      "next": "onboarding", "takeOffer": "onboarding", "phone": "signIn", "code": "signIn",
      "resend": "signIn", "pay": "payment", "find": "catalogue", "open": "catalogue",
      "refresh": "catalogue", "settings": "catalogue", "rate": "book", "basket": "book",
    ]
    if let screen = screens[words[0]] { await app.wait(for: screen) }
    let argument = words.dropFirst().first
    if words[0] == "rate" {
      await app.perform("rate", number: argument.flatMap { Int($0) })
    } else {
      await app.perform(words[0], argument)
    }
  }

  /// Waits until it is seen.
  func see(_ screen: String, _ text: String, _ device: String) async throws {
    let app = try app(device)
    if screen == "message" {
      let events = app.events
      await events.wait { [seenMessageCount] _ in
        app.messages.dropFirst(seenMessageCount).contains(text)
      }
      seenMessageCount = app.messages.count
      return
    }
    await app.perform("look")
    await app.events.wait { _ in
      guard let seen = app.router.screen, "\(seen.name)" == screen else { return false }
      return self.frame(seen).contains { $0.contains(text) }
    }
  }

  /// The rows that a terminal would show.
  private func frame(_ screen: Screen) -> [String] {
    let painter = ScreenPainter(columns: 90, rows: 24)
    var face = ScreenFace()
    let drawing = painter.drawing(
      screen, &face, isModal: false, painter.bodyRows(nil))
    return painter.frame(drawing, isModal: false, message: nil).map(\.text)
  }
}
