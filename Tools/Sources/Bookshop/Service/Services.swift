/// The key services, which live as long as the app does. Only operations are made with them.
struct Services {
  let storage: any Storage
  let auth: any AuthService
  let payment: any PaymentService
  let catalogue: any CatalogueService
  let sync: any SyncService
  let router: any Router
  let app: any AppService
}
