/// Shows a book, until the reader goes back.
struct BookOp: Operation {
  let catalogue: any CatalogueService
  let router: any Router

  func launch(_ id: Book.ID) async {
    let viewModel = BookshopBookViewModel(catalogue: catalogue, id: id)
    viewModel.onMessage = router.tell
    viewModel.start()
    router.show(.book(viewModel))
    await viewModel.outcome.value
    router.close(viewModel)
  }
}
