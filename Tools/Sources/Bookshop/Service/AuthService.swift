internal import Foundation
internal import LarderSync

enum AuthState: Equatable, Sendable {
  case signedOut
  case awaitingCode(phone: String)
  case signedIn(phone: String)

  var isSignedIn: Bool {
    if case .signedIn = self { true } else { false }
  }
}

enum AuthError: Error, Equatable, CustomStringConvertible {
  case badPhone
  case tooSoon(seconds: Int)
  case wrongCode
  case noCodeRequested
  case unreachable(String)

  var description: String {
    switch self {
    case .badPhone: "A phone number has 6 to 15 digits."
    case .tooSoon(let seconds): "The next code can be sent in \(seconds) s."
    case .wrongCode: "The code is not right."
    case .noCodeRequested: "Ask for a code first."
    case .unreachable(let reason): "The code cannot be checked: \(reason)"
    }
  }
}

/// Signs a reader in by phone, SMS code and token.
@MainActor protocol AuthService: AnyObject {
  var state: AuthState { get }
  /// Until ``requestCode(phone:)`` sends another; 0 for at once.
  var secondsUntilNextCode: Int { get }
  /// Told of a new token, and of nil when the reader has signed out.
  var onToken: (Token?) -> Void { get set }
  /// Told when an SMS is sent; nil when it turned out that it was not.
  var onCodeSent: (Date?) -> Void { get set }

  /// Goes on where an earlier run of the app has stopped.
  func restore(token: Token?, lastCode: Date?)
  /// Has an SMS sent, at most one in 60 seconds, as they cost money.
  ///
  /// - Throws: ``AuthError``; the state is as it was.
  func requestCode(phone: String) async throws
  /// Takes the code for a token.
  ///
  /// - Throws: ``AuthError``; the state is as it was.
  func submit(code: String) async throws
  func signOut()
}

/// The server and the telephone network.
protocol AuthGateway: Sendable {
  func sendCode(phone: String) async throws
  /// - Throws: ``AuthError/wrongCode``; anything else for a server that cannot be reached.
  func token(phone: String, code: String) async throws -> String
}

final class PhoneAuthService: AuthService {
  static let secondsBetweenCodes = 60

  private let gateway: any AuthGateway
  private let clock: any SyncClock
  private(set) var state = AuthState.signedOut
  /// When the next code may be sent, by the clock that nobody can set.
  private var nextCode = Duration.zero
  var onToken: (Token?) -> Void = { _ in }
  var onCodeSent: (Date?) -> Void = { _ in }

  init(gateway: any AuthGateway, clock: any SyncClock) {
    self.gateway = gateway
    self.clock = clock
    nextCode = clock.elapsed
  }

  var secondsUntilNextCode: Int {
    let rest = nextCode - clock.elapsed
    return max(0, Int((rest / .seconds(1)).rounded(.up)))
  }

  func restore(token: Token?, lastCode: Date?) {
    if let token { state = .signedIn(phone: token.phone) }
    guard let lastCode else { return }
    // Across runs only the time of day is left. A code in the future was sent by a clock that was
    // wrong, and holds up nobody for longer than a code of now would.
    let passed = max(0, clock.date.timeIntervalSince(lastCode))
    let rest = max(0, Double(Self.secondsBetweenCodes) - passed)
    nextCode = clock.elapsed + .seconds(rest)
  }

  func requestCode(phone: String) async throws {
    let digits = phone.filter { $0.isASCII && $0.isNumber }
    guard (6...15).contains(digits.count) else { throw AuthError.badPhone }
    let seconds = secondsUntilNextCode
    guard seconds == 0 else { throw AuthError.tooSoon(seconds: seconds) }
    // Before the gateway is asked: a second request meanwhile is one too many.
    nextCode = clock.elapsed + .seconds(Self.secondsBetweenCodes)
    onCodeSent(clock.date)
    let phone = "+" + digits
    let before = state
    do {
      try await gateway.sendCode(phone: phone)
    } catch {
      nextCode = clock.elapsed
      onCodeSent(nil)
      throw AuthError.unreachable("\(error)")
    }
    // Who was signed in meanwhile, with a code that was sent before, stays so.
    guard state == before else { return }
    state = .awaitingCode(phone: phone)
  }

  func submit(code: String) async throws {
    guard case .awaitingCode(let phone) = state else { throw AuthError.noCodeRequested }
    let value: String
    do {
      value = try await gateway.token(phone: phone, code: code)
    } catch let error as AuthError {
      throw error
    } catch {
      throw AuthError.unreachable("\(error)")
    }
    // Who has asked for a code to another phone meanwhile, or was answered already, goes on there.
    guard state == .awaitingCode(phone: phone) else { throw AuthError.noCodeRequested }
    state = .signedIn(phone: phone)
    onToken(Token(phone: phone, value: value))
  }

  func signOut() {
    state = .signedOut
    onToken(nil)
  }
}
