import Testing

@testable import Bookshop

@MainActor @Suite(.timeLimit(.minutes(20))) struct PaymentServiceTests {
  let gateway = HeldGateway(answersAtOnce: false)
  let service: CardPaymentService

  init() { service = CardPaymentService(gateway: gateway) }

  @Test(
    "every arrow of the states diagram is gone", arguments: Diagram.edges(of: "PaymentService"))
  func states(_ edge: Diagram.Edge) async throws {
    var receipts: [String] = []
    service.onReceipt = { receipts.append($0) }
    var payment: Task<Void, any Error>?
    if edge.from == "paying" {
      payment = Task { try await service.pay(.regular, card: "4111") }
      await gateway.waitForRequests(1)
    }
    if edge.from == "paid" { service.restore(receipt: "r") }

    switch edge.label {
    case "": break
    case "restore": service.restore(receipt: "r")
    case "pay":
      payment = Task { try await service.pay(.regular, card: "4111") }
      await gateway.waitForRequests(1)
    case "pay, busy":
      await #expect(throws: PaymentError.busy) { try await service.pay(.regular, card: "4111") }
    case "declined":
      await gateway.answer(.failure(PaymentError.declined))
      await #expect(throws: PaymentError.declined) { try await payment?.value }
      // And the next one is heard.
      let next = Task { try await service.pay(.onboarding, card: "4111") }
      await gateway.waitForRequests(2)
      await gateway.answer(.failure(Refused()))
      await #expect(throws: PaymentError.unreachable("refused")) { try await next.value }
    case "charged":
      await gateway.answer()
      try await payment?.value
      #expect(receipts == ["receipt-2000"])
    case "pay, not charged":
      await gateway.fail(with: Refused())
      try await service.pay(.regular, card: "4111")
      #expect(await gateway.requestCount == 0)
    default: Issue.record("nobody goes this way: \(edge.label)")
    }

    #expect(service.isPaid == (edge.to == "paid"))
    if edge.to == "paying" {
      #expect(await gateway.requestCount == 1)
      await gateway.answer()
      try await payment?.value
    }
  }

  @Test("the states diagram has all states")
  func drawn() {
    #expect(
      Set(Diagram.edges(of: "PaymentService").map(\.to)) == ["unpaid", "paying", "paid"])
  }

  @Test(
    "the demonstration takes cards whose last digit is right",
    arguments: [
      ("4111111111111111", true), ("5500005555555559", true), ("4111111111111112", false),
      ("", false), ("0000000000000000", false), ("4111", false), ("4111a11111111111", false),
      ("١١١١١١١١١١١١١١١١", false), ("41111111111111111111111", false),
    ])
  func cards(_ card: String, _ isGood: Bool) async {
    let receipt = try? await DemoPaymentGateway().charge(cents: 100, card: card)
    #expect((receipt != nil) == isGood)
  }
}
