/// What else of the app a reader of the catalogue may ask for.
struct CatalogueActions {
  let onBook: @MainActor (Book.ID) -> Void
  let onSettings: @MainActor () -> Void
}

/// Shows the catalogue, until another takes its place.
struct CatalogueOp: Operation {
  let catalogue: any CatalogueService
  let sync: any SyncService
  let router: any Router

  func launch(_ actions: CatalogueActions) async {
    let viewModel = BookshopCatalogueViewModel(catalogue: catalogue, sync: sync)
    viewModel.onBook = actions.onBook
    viewModel.onSettings = actions.onSettings
    viewModel.onMessage = router.tell
    viewModel.start()
    router.show(.catalogue(viewModel))
    await viewModel.outcome.value
    router.close(viewModel)
  }
}
