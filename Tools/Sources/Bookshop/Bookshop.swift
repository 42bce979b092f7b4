internal import Foundation
internal import Larder
internal import LarderRemote
internal import LarderSync

/// The program: takes its arguments, starts the app with one of the two routers, and waits.
public enum Bookshop {
  static let usage = """
    usage: bookshop --store FOLDER [--books FILE] [--remote URL] [--every SECONDS]
                    [--timeout SECONDS] [--product original|discount|open] [--code CODE]
                    [--link LINK] [--sync URL --reader NAME [--scope SCOPE]] [--control]

      --store     the folder of the store; made if there is none. The token of who has signed in is
                  kept beside it, in FOLDER.keychain
      --books     the catalogue that the store begins with
      --remote    where the catalogue is refreshed from, over HTTP
      --every     how many seconds after a refresh no screen asks for the next one; 30
      --timeout   how many seconds the server may be silent; 10
      --product   which of the three products the app is; open
      --code      the code of every SMS, for scripts
      --sync      the sync server that keeps stars and basket in step with those on the reader's other
                  devices. Its token is taken from the environment's LARDER_TOKEN
      --reader    whose they are: a store has one reader
      --scope     what the server calls them; the reader's name unless told
      --link      a link to open: bookshop://book/ID, bookshop://book-of-the-month
      --control   no screen: lines of JSON on standard input and output

    """

  /// Runs the app until the reader leaves; returns the exit code.
  @MainActor public static func run(_ arguments: [String]) async -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    if arguments == ["--help"] {
      say(usage, to: .standardOutput)
      return 0
    }
    let start: Start
    do {
      start = try Start(arguments)
    } catch {
      complain("\(error.text)\n\n\(usage)")
      return 64
    }
    do {
      try await start.isControlled ? control(start) : show(start)
      return 0
    } catch {
      complain("\(error)\n")
      return 1
    }
  }

  @MainActor private static func show(_ start: Start) async throws {
    guard Terminal.isAvailable else {
      throw UsageError(text: "this is no terminal: give --control for a script")
    }
    let router = TerminalRouter(terminal: Terminal())
    defer { router.tearDown() }
    let app = AppController()
    try app.start(start.configuration, router: router)
    if let link = start.link { router.onLink(link) }
    await app.outcome.value
  }

  @MainActor private static func control(_ start: Start) async throws {
    let router = RemoteControlRouter(output: StandardLines.write)
    let app = AppController()
    try app.start(start.configuration, router: router)
    if let link = start.link { router.onLink(link) }
    let lines = Task {
      for await line in StandardLines.input() { await router.perform(line: line) }
      router.onQuit()
    }
    await app.outcome.value
    lines.cancel()
  }

  private static func complain(_ text: String) { say("bookshop: \(text)", to: .standardError) }

  private static func say(_ text: String, to output: FileHandle) {
    // Nobody is left to be told that this could not be said.
    try? output.write(contentsOf: Data(text.utf8))
  }
}

struct UsageError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}

/// What the arguments ask for.
@MainActor struct Start {
  var configuration: Configuration
  var link: String?
  var isControlled = false

  init(_ arguments: [String]) throws(UsageError) {
    var values: [String: String] = [:]
    var rest = arguments[...]
    while let name = rest.popFirst() {
      if name == "--control" {
        isControlled = true
        continue
      }
      let known = [
        "--store", "--books", "--remote", "--every", "--timeout", "--product", "--code", "--link",
        "--sync", "--reader", "--scope",
      ]
      guard known.contains(name) else { throw UsageError(text: "what is \(name)?") }
      guard let value = rest.popFirst(), !value.hasPrefix("--") else {
        throw UsageError(text: "\(name) needs a value")
      }
      values[name] = value
    }
    guard let store = values["--store"] else { throw UsageError(text: "--store is missing") }
    configuration = Configuration(
      store: store, fixture: values["--books"],
      gateway: DemoAuthGateway(fixedCode: values["--code"]))
    link = values["--link"]
    let timeout = try Self.seconds("--timeout", values) ?? 10
    if let address = values["--remote"] {
      guard let url = URL(string: address), url.scheme == "http" || url.scheme == "https" else {
        throw UsageError(text: "--remote needs an address that begins with http://")
      }
      configuration.server = HTTPCatalogueServer(url: url, timeoutSeconds: Double(max(1, timeout)))
    }
    configuration.reader = try Self.reader(values)
    if let every = try Self.seconds("--every", values) { configuration.refreshSeconds = every }
    if let name = values["--product"] {
      guard let product = Product(rawValue: name) else {
        throw UsageError(text: "--product is original, discount or open")
      }
      configuration.product = product
    }
  }

  private static func reader(_ values: [String: String]) throws(UsageError) -> SyncedReader? {
    guard let address = values["--sync"] else {
      guard values["--reader"] == nil, values["--scope"] == nil else {
        throw UsageError(text: "--reader and --scope are for --sync")
      }
      return nil
    }
    guard let url = URL(string: address), url.scheme == "http" || url.scheme == "https" else {
      throw UsageError(text: "--sync needs an address that begins with http://")
    }
    guard let name = values["--reader"], (1...100).contains(name.utf8.count) else {
      throw UsageError(text: "--sync needs a --reader, a name of 1 to 100 bytes")
    }
    guard let token = ProcessInfo.processInfo.environment["LARDER_TOKEN"] else {
      throw UsageError(text: "--sync needs the server's token in the environment's LARDER_TOKEN")
    }
    let remote = HTTPRemote(url: url) { _ in token }
    return SyncedReader(name: name, scope: values["--scope"] ?? name, remote: remote)
  }

  private static func seconds(
    _ name: String, _ values: [String: String]
  ) throws(UsageError) -> Int? {
    guard let text = values[name] else { return nil }
    guard let seconds = Int(text), (0...1_000_000).contains(seconds) else {
      throw UsageError(text: "\(name) needs a number of seconds")
    }
    return seconds
  }
}
