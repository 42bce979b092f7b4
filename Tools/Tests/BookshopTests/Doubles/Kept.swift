import Larder
import LarderTesting

@testable import Bookshop

/// Where repositories keep what services give them: each test of a service runs with both.
enum Kept: CaseIterable {
  case inMemory, inStore

  /// Lends repositories, all empty.
  @MainActor func with(_ body: @MainActor (Repositories) async throws -> Void) async throws {
    switch self {
    case .inMemory:
      try await body(
        Repositories(
          books: InMemoryRepository(of: Book.self), stars: InMemoryRepository(of: Rating.self),
          basket: InMemoryRepository(of: BasketItem.self),
          states: InMemoryRepository(of: DeviceState.self)))
    case .inStore:
      try await withTemporaryStore { store in
        try await body(
          Repositories(
            books: store.repository(of: Book.self), stars: store.repository(of: Rating.self),
            basket: store.repository(of: BasketItem.self),
            states: store.repository(of: DeviceState.self)))
      }
    }
  }
}

struct Repositories {
  let books: any Repository<Book, Book>
  let stars: any Repository<Rating, Rating>
  let basket: any Repository<BasketItem, BasketItem>
  let states: any Repository<DeviceState, DeviceState>
}
