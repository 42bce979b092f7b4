internal import Foundation
internal import Larder

/// What the app remembers beside books: one document.
@Document
struct DeviceState: Equatable {
  static let theKey = "device"

  var id: String = DeviceState.theKey
  var isOnboarded = false
  var phone: String?
  var token: String?
  var receipt: String?
  /// When the last SMS code was sent, by the time of day.
  var lastCode: Date?
}

/// What the server gives to a phone whose owner knew the code.
struct Token: Equatable, Sendable {
  let phone: String
  let value: String
}
