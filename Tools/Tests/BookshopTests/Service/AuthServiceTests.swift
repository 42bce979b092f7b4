import Foundation
import LarderTesting
import Testing

@testable import Bookshop

@MainActor @Suite(.timeLimit(.minutes(20))) struct AuthServiceTests {
  let clock = ManualClock()
  let gateway = HeldGateway()
  let service: PhoneAuthService

  init() { service = PhoneAuthService(gateway: gateway, clock: clock) }

  private var stateName: String {
    switch service.state {
    case .signedOut: "signedOut"
    case .awaitingCode: "awaitingCode"
    case .signedIn: "signedIn"
    }
  }

  /// Brings a new service into a state.
  private func reach(_ state: String) async throws {
    if state == "awaitingCode" || state == "signedIn" {
      try await service.requestCode(phone: "+47 900 00 000")
    }
    if state == "signedIn" { try await service.submit(code: "1234") }
  }

  @Test("every arrow of the states diagram is gone", arguments: Diagram.edges(of: "AuthService"))
  func states(_ edge: Diagram.Edge) async throws {
    try await reach(edge.from)

    switch edge.label {
    case "": break
    case "restore": service.restore(token: Token(phone: "+1", value: "t"), lastCode: nil)
    case "requestCode": try await service.requestCode(phone: "+4790000001")
    case "requestCode, refused":
      for phone in ["", "12345", "1234567890123456", "phone"] {
        await #expect(throws: AuthError.badPhone) { try await service.requestCode(phone: phone) }
      }
    case "requestCode, too soon":
      await #expect(throws: AuthError.tooSoon(seconds: 60)) {
        try await service.requestCode(phone: "+4790000000")
      }
    case "requestCode, after 60 s":
      clock.advance(by: .seconds(60))
      try await service.requestCode(phone: "+4790000000")
      #expect(await gateway.requestCount == 2)
    case "submit, wrong":
      await #expect(throws: AuthError.wrongCode) { try await service.submit(code: "4321") }
    case "submit": try await service.submit(code: "1234")
    case "signOut": service.signOut()
    default: Issue.record("nobody goes this way: \(edge.label)")
    }

    #expect(stateName == edge.to)
  }

  @Test("the states diagram has all states")
  func drawn() {
    let edges = Diagram.edges(of: "AuthService")
    #expect(Set(edges.map(\.to)) == ["signedOut", "awaitingCode", "signedIn"])
    #expect(edges.count == 9)
  }

  @Test("in 60 seconds one code is sent, however often it is asked for")
  func oneCode() async throws {
    try await service.requestCode(phone: "+4790000000")
    for second in 0..<60 {
      await #expect(throws: AuthError.tooSoon(seconds: 60 - second)) {
        try await service.requestCode(phone: "+4790000000")
      }
      clock.advance(by: .seconds(1))
    }
    #expect(await gateway.requestCount == 1)

    try await service.requestCode(phone: "+4790000000")

    #expect(await gateway.requestCount == 2)
  }

  @Test("another phone does not get another code sooner")
  func otherPhone() async throws {
    try await service.requestCode(phone: "+4790000000")
    await #expect(throws: AuthError.tooSoon(seconds: 60)) {
      try await service.requestCode(phone: "+4790000001")
    }
    #expect(service.state == .awaitingCode(phone: "+4790000000"))
  }

  @Test("while a code is being sent no other is")
  func meanwhile() async throws {
    let gateway = HeldGateway(answersAtOnce: false)
    let service = PhoneAuthService(gateway: gateway, clock: clock)
    let first = Task { try await service.requestCode(phone: "+4790000000") }
    await gateway.waitForRequests(1)

    await #expect(throws: AuthError.tooSoon(seconds: 60)) {
      try await service.requestCode(phone: "+4790000000")
    }

    await gateway.answer()
    try await first.value
    #expect(await gateway.requestCount == 1)
  }

  @Test("a code that was not sent costs no minute")
  func notSent() async throws {
    var told: [Date?] = []
    service.onCodeSent = { told.append($0) }
    await gateway.fail(with: Refused())
    await #expect(throws: AuthError.unreachable("refused")) {
      try await service.requestCode(phone: "+4790000000")
    }
    #expect(service.state == .signedOut)
    #expect(told == [clock.date, nil])

    await gateway.fail(with: nil)
    try await service.requestCode(phone: "+4790000000")

    #expect(service.state == .awaitingCode(phone: "+4790000000"))
  }

  @Test("a restart does not shorten the minute, nor does a clock that was wrong prolong it")
  func restart() async throws {
    service.restore(token: nil, lastCode: clock.date - 20)
    #expect(service.secondsUntilNextCode == 40)
    service.restore(token: nil, lastCode: clock.date - 3600)
    #expect(service.secondsUntilNextCode == 0)
    service.restore(token: nil, lastCode: clock.date + 86_400)
    #expect(service.secondsUntilNextCode == 60)
    clock.advance(by: .seconds(60))
    try await service.requestCode(phone: "+4790000000")
  }

  @Test("setting the clock does not shorten the minute")
  func clockIsSet() async throws {
    try await service.requestCode(phone: "+4790000000")
    clock.date += 3600
    #expect(service.secondsUntilNextCode == 60)
  }

  @Test("a code that nobody asked for is no code")
  func noCode() async {
    await #expect(throws: AuthError.noCodeRequested) { try await service.submit(code: "1234") }
  }

  @Test("the token is told when it comes, and that it is gone")
  func tokens() async throws {
    var told: [Token?] = []
    service.onToken = { told.append($0) }
    try await reach("signedIn")
    service.signOut()
    #expect(told == [Token(phone: "+4790000000", value: "token"), nil])
  }

  @Test("the demonstration's code is good for one time, for its own phone")
  func demo() throws {
    let gateway = DemoAuthGateway(fixedCode: "77")
    var sms: [String] = []
    gateway.onSMS = { sms.append($0) }
    gateway.sendCode(phone: "+1")
    #expect(sms == ["SMS to +1: your code is 77"])
    #expect(throws: AuthError.wrongCode) { try gateway.token(phone: "+2", code: "77") }
    #expect(try gateway.token(phone: "+1", code: "77") == "token-+1")
    #expect(throws: AuthError.wrongCode) { try gateway.token(phone: "+1", code: "77") }
  }
}
