/// Sees to it that the subscription is paid, before or after sign-in.
struct PayScenario: Scenario {
  let operations: any OperationFactory

  func launch(_ input: Void, _ app: any AppService) async -> Bool {
    switch await operations.paymentStatus().launch() {
    case .paid: true
    case .unpaid(isSignedIn: true): await operations.payWhenSignedIn().launch()
    case .unpaid(isSignedIn: false): await operations.payInOnboarding().launch()
    }
  }
}
