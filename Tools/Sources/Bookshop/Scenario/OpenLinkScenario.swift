/// Opens what a link leads to, as if the reader had chosen it.
struct OpenLinkScenario: Scenario {
  let operations: any OperationFactory

  func launch(_ link: String, _ app: any AppService) async {
    guard let id = await operations.resolveLink().launch(link) else { return }
    app.showBook(id)
  }
}
