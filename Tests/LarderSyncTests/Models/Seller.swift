import Larder
import LarderTesting

@testable import Larder

/// The sellers' contacts of the article.
@Document
struct Seller: Identifiable, Equatable {
  var id: Int
  var phone: String
  var address: String
  @Indexed var order = 0

  static let byOrder = Seller.all.sorted(by: \.order)

  static func many(_ count: Int) -> [Seller] {
    (0..<count).map { Seller(id: $0, phone: "22 \($0)", address: "Street \($0)", order: $0) }
  }
}

/// What a remote cannot do.
struct Offline: Error, Equatable, CustomStringConvertible {
  var number = 0
  var description: String { number == 0 ? "offline" : "offline \(number)" }
}

extension Store {
  /// The number of the last transaction that wrote anything at all.
  func lastTransaction() throws -> UInt64 { try read { $0.state.transaction } }

  /// How many watchers sit in it.
  var hasWatchers: Bool { !engine.watchHub.isEmpty }
}

/// Lets others run until `condition` holds, or the test is cancelled by its time limit, which has said so
/// then. For what ends by itself soon and tells nobody.
func settle(
  isolation: isolated (any Actor)? = #isolation, until condition: () throws -> Bool
) async rethrows {
  while try !condition(), !Task.isCancelled { await Task.yield() }
}
