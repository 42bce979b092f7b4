internal import Foundation
internal import Larder

/// Keeps what the app remembers besides books.
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

/// Keeps the token in a keychain, and the rest in a repository, where a second terminal sees it too.
final class DeviceStorage: Storage {
  private let states: any Repository<DeviceState, DeviceState>
  private let keychain: any Keychain
  var onFailure: (String) -> Void = { _ in }

  init(states: any Repository<DeviceState, DeviceState>, keychain: any Keychain) {
    self.states = states
    self.keychain = keychain
  }

  var isOnboarded: Bool { state.isOnboarded }
  var token: Token? {
    do {
      return try keychain.token()
    } catch {
      onFailure("You are signed out, because the token cannot be read: \(error)")
      return nil
    }
  }
  var receipt: String? { state.receipt }
  var lastCode: Date? { state.lastCode }

  func markOnboarded() { change { $0.isOnboarded = true } }
  func save(token: Token?) { keep { try keychain.save(token) } }
  func save(receipt: String) { change { $0.receipt = receipt } }
  func save(lastCode: Date?) { change { $0.lastCode = lastCode } }

  private var state: DeviceState {
    do {
      return try states.get(DeviceState.theKey) ?? DeviceState()
    } catch {
      onFailure("What this device remembers cannot be read: \(error)")
      return DeviceState()
    }
  }

  private func change(_ body: @escaping @Sendable (inout DeviceState) -> Void) {
    keep { try states.change(DeviceState(), body) }
  }

  private func keep(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      onFailure("This cannot be remembered: \(error)")
    }
  }
}
