enum PaymentStatus: Sendable, Equatable {
  case paid
  case unpaid(isSignedIn: Bool)

  init(isPaid: Bool, isSignedIn: Bool) {
    self = isPaid ? .paid : .unpaid(isSignedIn: isSignedIn)
  }
}
