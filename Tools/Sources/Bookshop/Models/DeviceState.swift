internal import Foundation
internal import Larder

/// What the app remembers besides books: one document. The token is not in it; see ``Keychain``.
@Document
struct DeviceState: Equatable {
  static let theKey = "device"

  var id: String = DeviceState.theKey
  var isOnboarded = false
  var receipt: String?
  /// When the last SMS code was sent, by the time of day.
  var lastCode: Date?
}

/// What the server gives to a phone whose owner knew the code.
struct Token: Codable, Equatable, Sendable {
  let phone: String
  let value: String
}
