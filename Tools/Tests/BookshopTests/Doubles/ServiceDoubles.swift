import Foundation
import Larder
import LarderSync

@testable import Bookshop

/// What services answer, in the order in which they are asked; a message that nothing is said of, and
/// nil, succeed.
struct Failures {
  private var answers: [String: [(any Error)?]] = [:]

  mutating func add(_ receiver: String, _ message: String, _ answer: (any Error)?) {
    answers["\(receiver): \(message)", default: []].append(answer)
  }

  mutating func next(_ receiver: String, _ message: String) -> (any Error)? {
    let key = "\(receiver): \(message)"
    guard answers[key]?.isEmpty == false else { return nil }
    return answers[key]?.removeFirst()
  }
}

struct Refused: Error, CustomStringConvertible {
  var description: String { "refused" }
}

@MainActor final class StorageDouble: Storage {
  let journal: Journal
  private let given = (isOnboarded: false, token: Token(phone: "+1", value: "t"))
  var onFailure: (String) -> Void = { _ in } {
    didSet { journal.note("Storage", "set onFailure") }
  }

  init(_ journal: Journal) { self.journal = journal }

  var isOnboarded: Bool {
    journal.note("Storage", "isOnboarded")
    return given.isOnboarded
  }
  var token: Token? {
    journal.note("Storage", "token")
    return given.token
  }
  var receipt: String? {
    journal.note("Storage", "receipt")
    return nil
  }
  var lastCode: Date? {
    journal.note("Storage", "lastCode")
    return nil
  }

  func markOnboarded() { journal.note("Storage", "markOnboarded") }
  func save(token: Token?) { journal.note("Storage", "save(token)") }
  func save(receipt: String) { journal.note("Storage", "save(receipt)") }
  func save(lastCode: Date?) { journal.note("Storage", "save(lastCode)") }
}

@MainActor final class AuthDouble: AuthService {
  let journal: Journal
  var givenState = AuthState.signedOut
  var failures = Failures()
  var secondsUntilNextCode = 0
  var onToken: (Token?) -> Void = { _ in } {
    didSet { journal.note("AuthService", "set onToken") }
  }
  var onCodeSent: (Date?) -> Void = { _ in } {
    didSet { journal.note("AuthService", "set onCodeSent") }
  }

  init(_ journal: Journal) { self.journal = journal }

  var state: AuthState {
    journal.note("AuthService", "state")
    return givenState
  }

  func restore(token: Token?, lastCode: Date?) { journal.note("AuthService", "restore") }
  func requestCode(phone: String) async throws { try answer("requestCode") }
  func submit(code: String) async throws { try answer("submit(code)") }
  func signOut() { journal.note("AuthService", "signOut") }

  private func answer(_ message: String) throws {
    journal.note("AuthService", message)
    if let failure = failures.next("AuthService", message) { throw failure }
  }
}

@MainActor final class PaymentDouble: PaymentService {
  let journal: Journal
  var failures = Failures()
  var onReceipt: (String) -> Void = { _ in } {
    didSet { journal.note("PaymentService", "set onReceipt") }
  }

  init(_ journal: Journal) { self.journal = journal }

  var isPaid: Bool {
    journal.note("PaymentService", "isPaid")
    return false
  }

  func restore(receipt: String?) { journal.note("PaymentService", "restore") }
  func pay(_ offer: Offer, card: String) async throws {
    let message = "pay(\(offer.rawValue))"
    journal.note("PaymentService", message)
    if let failure = failures.next("PaymentService", message) { throw failure }
  }
}

@MainActor final class CatalogueDouble: CatalogueService {
  let journal: Journal
  /// What the streams give; nothing when they were made without.
  var given: [Book] = []
  var failures = Failures()
  var isLinkDead = false
  var onFailure: (String) -> Void = { _ in } {
    didSet { journal.note("CatalogueService", "set onFailure") }
  }

  init(_ journal: Journal) { self.journal = journal }

  func fill() { journal.note("CatalogueService", "fill") }
  var filling: Task<Void, Never>? {
    journal.note("CatalogueService", "filling")
    return nil
  }
  func books(_ search: Search) -> EventStream<Rows<Book>> { stream("books", given) }
  func news() -> EventStream<Int> {
    journal.note("CatalogueService", "news")
    return EventStream { { nil } }
  }
  func book(_ id: Book.ID) -> EventStream<Rows<Book>> {
    stream("book", given.filter { $0.id == id })
  }
  func basket() -> EventStream<Rows<Book>> { stream("basket", given.filter(\.isInBasket)) }

  func ratings() -> EventStream<ResultChange<Rating>> {
    journal.note("CatalogueService", "ratings")
    return EventStream { { nil } }
  }
  func rating(of id: Book.ID) -> EventStream<Rows<Rating>> {
    journal.note("CatalogueService", "rating")
    return EventStream { { nil } }
  }

  private func stream(_ name: String, _ books: [Book]) -> EventStream<Rows<Book>> {
    journal.note("CatalogueService", name)
    return EventStream {
      let once = Once(Rows(books))
      return { await once.take().map { .value($0) } }
    }
  }

  func refresh() async throws { try answer("refresh") }
  func comeBack() { journal.note("CatalogueService", "comeBack") }
  func rate(_ id: Book.ID, stars: Int?) async throws { try answer("rate") }
  func toggleBasket(_ id: Book.ID) async throws { try answer("toggleBasket") }
  func resolve(link: String, orTell complain: (String) -> Void) -> Book.ID? {
    journal.note("CatalogueService", "resolve(link)")
    if isLinkDead { complain(link) }
    return isLinkDead ? nil : "a"
  }

  private func answer(_ message: String) throws {
    journal.note("CatalogueService", message)
    if let failure = failures.next("CatalogueService", message) { throw failure }
  }
}

@MainActor final class SyncDouble: SyncService {
  let journal: Journal
  var given: SyncStatus?

  init(_ journal: Journal) { self.journal = journal }

  func start() { journal.note("SyncService", "start") }
  func statuses() -> EventStream<SyncStatus> {
    journal.note("SyncService", "statuses")
    let given = given
    return EventStream {
      let once = Once(given)
      return { await once.take().flatMap { $0 }.map { .value($0) } }
    }
  }
}

/// A value that is given once.
private actor Once<Value: Sendable> {
  private var value: Value?

  init(_ value: Value) { self.value = value }

  func take() -> Value? {
    defer { value = nil }
    return value
  }
}

@MainActor final class RouterDouble: Router {
  let journal: Journal
  private(set) var shown: [Screen] = []
  private var waiting: CheckedContinuation<Void, Never>?
  var onLink: (String) -> Void = { _ in } {
    didSet { journal.note("Router", "set onLink") }
  }
  var onQuit: () -> Void = {} {
    didSet { journal.note("Router", "set onQuit") }
  }
  var onReturn: () -> Void = {} {
    didSet { journal.note("Router", "set onReturn") }
  }

  init(_ journal: Journal) { self.journal = journal }

  func setUp() { journal.note("Router", "setUp") }
  func show(_ screen: Screen) {
    journal.note("Router", "show(\(screen.name))")
    shown.append(screen)
    waiting?.resume()
    waiting = nil
  }
  func close(_ viewModel: any ViewModel) { journal.note("Router", "close") }
  func tell(_ text: String) { journal.note("Router", "tell") }

  /// The first screen, once it is shown.
  func screen() async -> Screen {
    if shown.isEmpty { await withCheckedContinuation { waiting = $0 } }
    return shown[0]
  }
}

@MainActor final class AppServiceDouble: AppService {
  let journal: Journal
  var isPaid = true

  init(_ journal: Journal) { self.journal = journal }

  func enter() { journal.note("AppService", "enter") }
  func showCatalogue() { journal.note("AppService", "showCatalogue") }
  func showBook(_ id: Book.ID) { journal.note("AppService", "showBook") }
  func pay() async -> Bool {
    journal.note("AppService", "pay")
    return isPaid
  }
  func showSettings() { journal.note("AppService", "showSettings") }
  func open(link: String) { journal.note("AppService", "open(link)") }
  func quit() { journal.note("AppService", "quit") }
}

extension Book {
  static func example(_ id: String, _ title: String = "A Title", price: Int = 100) -> Book {
    Book(
      id: id, title: title, author: "An Author", price: price, year: 2001, genre: "novel",
      blurb: "")
  }
}
