import Foundation
import Larder
import LarderTesting
import Testing

@testable import Bookshop

@MainActor struct StorageTests {
  @Test("what is kept is there for whoever opens the store next")
  func kept() throws {
    try withTemporaryStore { store in
      let storage = DeviceStorage(store: store)
      #expect(!storage.isOnboarded)
      #expect(storage.token == nil)
      let date = Date(timeIntervalSinceReferenceDate: 700_000_000)

      storage.markOnboarded()
      storage.save(token: Token(phone: "+1", value: "t"))
      storage.save(receipt: "r")
      storage.save(lastCode: date)

      let other = DeviceStorage(store: store)
      #expect(other.isOnboarded)
      #expect(other.token == Token(phone: "+1", value: "t"))
      #expect(other.receipt == "r")
      #expect(other.lastCode == date)
      other.save(token: nil)
      #expect(storage.token == nil)
      #expect(storage.receipt == "r")
    }
  }

  @Test("what cannot be read or kept is told of")
  func failures() throws {
    let store = try Store.temporary()
    let storage = DeviceStorage(store: store)
    var failures: [String] = []
    storage.onFailure = { failures.append($0) }
    try store.close()

    storage.markOnboarded()

    #expect(failures.count == 1)
    #expect(!storage.isOnboarded)
    #expect(failures.count == 2)
  }
}
