internal import Foundation
internal import Larder

/// Keeps what the app remembers beside books.
@MainActor protocol Storage: AnyObject {
  var isOnboarded: Bool { get }
  var token: Token? { get }
  var receipt: String? { get }
  var lastCode: Date? { get }
  /// Told when something could not be read or kept; what was not kept is forgotten.
  var onFailure: (String) -> Void { get set }

  func markOnboarded()
  func save(token: Token?)
  func save(receipt: String)
  func save(lastCode: Date?)
}

/// Keeps it in a store, where a second terminal sees it too.
final class DeviceStorage: Storage {
  private let store: Store
  var onFailure: (String) -> Void = { _ in }

  init(store: Store) { self.store = store }

  var isOnboarded: Bool { state.isOnboarded }
  var token: Token? {
    let state = state
    guard let phone = state.phone, let value = state.token else { return nil }
    return Token(phone: phone, value: value)
  }
  var receipt: String? { state.receipt }
  var lastCode: Date? { state.lastCode }

  func markOnboarded() { change { $0.isOnboarded = true } }
  func save(token: Token?) {
    change {
      $0.phone = token?.phone
      $0.token = token?.value
    }
  }
  func save(receipt: String) { change { $0.receipt = receipt } }
  func save(lastCode: Date?) { change { $0.lastCode = lastCode } }

  private var state: DeviceState {
    do {
      return try store.repository(of: DeviceState.self).get(DeviceState.theKey) ?? DeviceState()
    } catch {
      onFailure("What this device remembers cannot be read: \(error)")
      return DeviceState()
    }
  }

  private func change(_ body: (inout DeviceState) -> Void) {
    do {
      try store.write { scope in
        var state = try scope.get(DeviceState.self, DeviceState.theKey) ?? DeviceState()
        body(&state)
        try scope.save(state)
      }
    } catch {
      onFailure("This cannot be remembered: \(error)")
    }
  }
}
