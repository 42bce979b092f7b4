/// Opens a book to who may read it.
struct ViewBookScenario: Scenario {
  let operations: any OperationFactory

  func launch(_ input: (id: Book.ID, product: Product), _ app: any AppService) async {
    // The second change: sign-in has moved here.
    if input.product == .open {
      let status = await operations.entryStatus().launch()
      if !status.isSignedIn {
        guard await operations.signIn().launch(true) else { return }
      }
      guard await app.pay() else { return }
    } else if await operations.paymentStatus().launch() != .paid {
      guard await app.pay() else { return }
    }
    await operations.book().launch(input.id)
  }
}
