import Foundation
import LarderSync

@testable import Bookshop

/// A gateway that answers when a test says so, or at once; it counts what it was asked.
actor HeldGateway: AuthGateway, PaymentGateway {
  private let isPatient: Bool
  private var held: [CheckedContinuation<Void, any Error>] = []
  private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  private(set) var requestCount = 0
  private var failure: (any Error)?

  init(answersAtOnce: Bool = true) { isPatient = !answersAtOnce }

  func fail(with error: (any Error)?) { failure = error }

  func answer(_ result: Result<Void, any Error> = .success(())) {
    for continuation in held { continuation.resume(with: result) }
    held = []
  }

  func waitForRequests(_ count: Int) async {
    if requestCount >= count { return }
    await withCheckedContinuation { waiting.append((count, $0)) }
  }

  private func request() async throws {
    requestCount += 1
    for entry in waiting where entry.count <= requestCount { entry.continuation.resume() }
    waiting.removeAll { $0.count <= requestCount }
    if let failure { throw failure }
    if isPatient { try await withCheckedThrowingContinuation { held.append($0) } }
  }

  func sendCode(phone: String) async throws { try await request() }
  func token(phone: String, code: String) async throws -> String {
    guard code == "1234" else { throw AuthError.wrongCode }
    return "token"
  }
  func charge(cents: Int, card: String) async throws -> String {
    try await request()
    return "receipt-\(cents)"
  }
}

/// A server that gives what a test says.
actor ScriptedServer: CatalogueServer {
  private var answer: Result<Fetched<CataloguePage>, any Error>
  private(set) var requestCount = 0
  private(set) var savedVersions: [String?] = []

  init(_ listings: [Listing] = []) { answer = Self.page(listings) }

  func fetch() throws -> Fetched<CataloguePage> {
    requestCount += 1
    return try answer.get()
  }
  func noteSaved(_ page: CataloguePage) { savedVersions.append(page.version) }

  func serve(_ listings: [Listing]) { answer = Self.page(listings) }
  func serve(rubbish text: String) {
    answer = .success(.fromRemote(CataloguePage(data: Data(text.utf8), version: "rubbish")))
  }
  func fail(_ error: any Error) { answer = .failure(error) }

  private static func page(
    _ listings: [Listing]
  ) -> Result<Fetched<CataloguePage>, any Error> {
    Result { .fromRemote(CataloguePage(data: try JSONEncoder().encode(listings), version: "v")) }
  }
}

extension Listing {
  static func example(_ id: String, _ title: String = "A Title", price: Int = 100) -> Listing {
    Listing(
      id: id, title: title, author: "An Author", price: price, year: 2001, genre: "novel",
      blurb: "")
  }
}
