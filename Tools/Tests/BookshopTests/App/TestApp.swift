import Foundation
import Larder
import LarderTesting
import Testing

@testable import Bookshop

/// The whole app, as it is started, with a script in the reader's place.
@MainActor final class TestApp {
  let events = EventLog()
  let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 800_000_000))
  let folder: URL
  let store: String
  let keychain: String
  let router: RemoteControlRouter
  private let app = AppController()

  init(
    in folder: URL, product: Product = .open, fixture: String? = nil,
    server: (any CatalogueServer)? = nil, refreshSeconds: Int = 0,
    reader: SyncedReader? = nil
  ) throws {
    self.folder = folder
    router = RemoteControlRouter { [events] in events.note($0) }
    store = folder.path(percentEncoded: false)
    var configuration = Configuration(
      store: store, fixture: fixture, gateway: DemoAuthGateway(fixedCode: "1234"))
    keychain = configuration.keychain
    configuration.product = product
    configuration.server = server
    configuration.reader = reader
    configuration.refreshSeconds = refreshSeconds
    configuration.clock = clock
    try app.start(configuration, router: router)
  }

  func perform(_ action: String, _ text: String? = nil, number: Int? = nil) async {
    var command = ["\"do\": \"\(action)\""]
    if let text { command.append("\"text\": \"\(text)\"") }
    if let number { command.append("\"number\": \(number)") }
    await router.perform(line: "{" + command.joined(separator: ", ") + "}")
  }

  func wait(for screen: String) async { await perform("wait", screen) }

  /// Waits until the catalogue shows the books that came with the app.
  func waitForBooks() async { await perform("wait", "catalogue", number: 60) }

  /// Waits until the screen that is seen is as it should be.
  func wait(
    sourceLocation: SourceLocation = #_sourceLocation,
    until condition: @escaping @MainActor (ScreenState) -> Bool
  ) async {
    await perform("look")
    if let last = events.all.last?.screen, condition(last) { return }
    let seen = events.all.count
    await events.wait(sourceLocation: sourceLocation) { [events] event in
      events.all.count > seen && event.screen.map(condition) == true
    }
  }

  func waitForMessage(_ text: String) async {
    await events.wait { $0.event == "message" && $0.text?.contains(text) == true }
  }

  /// What is seen now.
  var screen: ScreenState? {
    get async {
      await perform("look")
      return events.all.last?.screen
    }
  }

  var refusals: [String] { events.all.filter { $0.event == "refused" }.compactMap(\.text) }
  var messages: [String] { events.all.filter { $0.event == "message" }.compactMap(\.text) }

  /// How screens were shown so far.
  var shown: [String] {
    events.all.filter { $0.how != nil }.map { event in
      "\(event.how ?? "") \((event.how == "root" ? event.open?.first : event.screen?.name) ?? "")"
    }
  }

  func passOnboarding() async {
    await wait(for: "onboarding")
    for _ in 0..<3 { if await screen?.name == "onboarding" { await perform("next") } }
  }

  func signIn(_ phone: String = "+4790000000") async {
    await wait(for: "signIn")
    await perform("phone", phone)
    await perform("code", "1234")
  }

  func pay() async {
    await wait(for: "payment")
    await perform("pay", "4111 1111 1111 1111")
  }

}

/// Lends a folder for a store, which is checked and deleted afterwards.
@MainActor func withStoreFolder(_ body: @MainActor (URL) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appending(
    path: "bookshop-\(UUID().uuidString)", directoryHint: .isDirectory)
  // What is left of a failed test is the system's to tidy up.
  defer {
    for url in [folder, folder.deletingPathExtension().appendingPathExtension("keychain")] {
      try? FileManager.default.removeItem(at: url)
    }
  }
  try await body(folder)
  try verifyAndClose(Store(at: folder))
}
