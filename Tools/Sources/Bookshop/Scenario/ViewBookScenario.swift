/// Opens a book to who has paid.
struct ViewBookScenario: Scenario {
  let operations: any OperationFactory

  func launch(_ id: Book.ID, _ app: any AppService) async {
    if await operations.paymentStatus().launch() != .paid {
      guard await app.pay() else { return }
    }
    await operations.book().launch(id)
  }
}

/// Opens a book to who has signed in and paid.
struct ViewBookSignedInScenario: Scenario {
  let operations: any OperationFactory

  func launch(_ id: Book.ID, _ app: any AppService) async {
    let status = await operations.entryStatus().launch()
    if !status.isSignedIn {
      guard await operations.signIn().launch(true) else { return }
    }
    guard await app.pay() else { return }
    await operations.book().launch(id)
  }
}
