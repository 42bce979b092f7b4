import Foundation
import Larder
import Testing

@testable import Bookshop

/// Creation arrows: what is really made by whom. That the source makes nothing else is one of the
/// house's rules.
@MainActor @Suite(.timeLimit(.minutes(20))) struct CreationTests {
  private func drawn(by creator: String) throws -> Set<String> {
    try Set(Diagram.creations().filter { $0.creator == creator }.map(\.made))
  }

  private func names(_ made: [Any]) -> Set<String> { Set(made.map { "\(type(of: $0))" }) }

  @Test("the operation factory makes the operations that are drawn")
  func operations() throws {
    let journal = Journal()
    let factory = BookshopOperations()
    factory.setServices(
      Services(
        storage: StorageDouble(journal), auth: AuthDouble(journal),
        payment: PaymentDouble(journal), catalogue: CatalogueDouble(journal),
        sync: SyncDouble(journal), router: RouterDouble(journal), app: AppServiceDouble(journal)))
    let made: [Any] = [
      factory.makeServices(OriginalScenarios(operations: factory)), factory.setUpServices(),
      factory.start(), factory.entryStatus(), factory.onboarding(), factory.signIn(),
      factory.signOut(), factory.catalogue(), factory.book(), factory.paymentStatus(),
      factory.payWhenSignedIn(), factory.payInOnboarding(), factory.settings(),
      factory.resolveLink(),
    ]
    #expect(try names(made) == drawn(by: "BookshopOperations"))
  }

  @Test("each product's factory makes the scenarios that are drawn, or those that it inherits")
  func scenarios() throws {
    let factory = OperationFactoryDouble(Journal(), .init())
    var inherited: Set<String> = []
    var products: [Any] = []
    for product in Product.allCases {
      let scenarios = product.scenarios(factory)
      let made = names([
        scenarios.enter(), scenarios.viewBook(), scenarios.pay(), scenarios.settings(),
        scenarios.openLink(),
      ])
      let own = try drawn(by: "\(type(of: scenarios))")
      #expect(own.isSubset(of: made))
      #expect(made.isSubset(of: own.union(inherited)))
      inherited.formUnion(made)
      products.append(scenarios)
    }
    #expect(try names(products) == drawn(by: "Product"))
  }

  @Test("the services are made that are drawn, over a store of their own")
  func services() async throws {
    try await withStoreFolder { folder in
      let factory = BookshopOperations()
      let router = RouterDouble(Journal())
      let services = try factory.makeServices(OriginalScenarios(operations: factory)).launch(
        Configuration(
          store: folder.path(percentEncoded: false), gateway: DemoAuthGateway(fixedCode: nil)),
        router: router, onQuit: {})
      let made = names([
        services.storage, services.auth, services.payment, services.catalogue, services.sync,
        services.app,
      ])
      // The others are made for these, and kept by them.
      let kept: Set = [
        "FileKeychain", "DemoPaymentGateway", "FixtureImporter", "RefreshTrigger",
      ]
      #expect(try made.union(kept) == drawn(by: "MakeServicesOp"))
      #expect(services.router === router)
    }
  }
}
