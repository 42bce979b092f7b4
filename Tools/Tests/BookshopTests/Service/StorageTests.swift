import Foundation
import Larder
import LarderTesting
import Testing

@testable import Bookshop

@MainActor struct StorageTests {
  private let keychain = KeychainDouble()

  private func storage(
    _ states: any Repository<DeviceState, DeviceState>
  ) -> DeviceStorage { DeviceStorage(states: states, keychain: keychain) }

  @Test("what is kept is there for whoever looks next", arguments: Kept.allCases)
  func kept(_ kept: Kept) async throws {
    try await kept.with { repositories in
      let storage = storage(repositories.states)
      #expect(!storage.isOnboarded)
      #expect(storage.token == nil)
      let date = Date(timeIntervalSinceReferenceDate: 700_000_000)

      storage.markOnboarded()
      storage.save(token: Token(phone: "+1", value: "t"))
      storage.save(receipt: "r")
      storage.save(lastCode: date)

      let other = self.storage(repositories.states)
      #expect(other.isOnboarded)
      #expect(other.token == Token(phone: "+1", value: "t"))
      #expect(other.receipt == "r")
      #expect(other.lastCode == date)
      other.save(token: nil)
      other.save(lastCode: nil)
      #expect(storage.token == nil)
      #expect(storage.lastCode == nil)
      #expect(storage.receipt == "r")
    }
  }

  @Test("no byte of a token is in the store")
  func noToken() async throws {
    try await withStoreFolder { folder in
      let app = try TestApp(in: folder, product: .original, fixture: fixture("books.json"))
      await app.passOnboarding()
      await app.signIn("+4798765432")
      await app.wait(for: "catalogue")
      let keychain = FileKeychain(folder: app.keychain)
      let token = try #require(try keychain.token())
      #expect(token.value == "token-+4798765432")
      for name in try FileManager.default.contentsOfDirectory(atPath: app.store) {
        let data = try Data(contentsOf: folder.appending(path: name))
        #expect(data.range(of: Data("4798765432".utf8)) == nil, "\(name)")
      }
      // So that the search is one that finds.
      let file = try Data(contentsOf: URL(filePath: app.keychain + "/token"))
      #expect(file.range(of: Data("4798765432".utf8)) != nil)
    }
  }

  @Test("what cannot be read or kept is told of")
  func failures() throws {
    let store = try Store.temporary()
    let storage = storage(store.repository(of: DeviceState.self))
    var failures: [String] = []
    storage.onFailure = { failures.append($0) }
    try store.close()

    storage.markOnboarded()

    #expect(failures.count == 1)
    #expect(!storage.isOnboarded)
    #expect(failures.count == 2)
    keychain.failure = KeychainError.damaged("token")
    #expect(storage.token == nil)
    #expect(failures.last?.contains("token holds no token") == true)
    storage.save(token: nil)
    #expect(failures.count == 4)
  }
}

/// A keychain in memory.
@MainActor final class KeychainDouble: Keychain {
  private var kept: Token?
  var failure: (any Error)?

  func token() throws -> Token? {
    if let failure { throw failure }
    return kept
  }
  func save(_ token: Token?) throws {
    if let failure { throw failure }
    kept = token
  }
}
