/// Finds out which book a link means.
struct ResolveLinkOp: Operation {
  let catalogue: any CatalogueService
  let router: any Router

  func launch(_ link: String) async -> Book.ID? {
    catalogue.resolve(link: link, orTell: router.tell)
  }
}
