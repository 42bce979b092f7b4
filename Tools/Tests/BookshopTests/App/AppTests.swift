import Foundation
import Larder
import LarderTesting
import Testing

@testable import Bookshop

extension WholeAppTests {
  /// The whole app, through the router without a screen.
  @MainActor @Suite(.timeLimit(.minutes(20))) struct AppTests {
    @Test("in the original product one signs in, then looks, then pays for a book")
    func original() async throws {
      try await withStoreFolder { folder in
        let app = try TestApp(in: folder, product: .original, fixture: fixture("books.json"))
        await app.passOnboarding()
        await app.signIn()
        await app.waitForBooks()
        #expect(await app.screen?.books?.count == 60)
        let id = try #require(await app.screen?.books?.first?.id)
        await app.perform("open", id)
        await app.wait(for: "payment")
        #expect(await app.screen?.price == 2000)
        await app.pay()
        await app.wait(for: "book")
        #expect(await app.screen?.book?.id == id)
        #expect(
          app.shown == [
            "root onboarding", "root signIn", "root catalogue", "push payment", "push book",
          ])
        #expect(app.refusals == [])
      }
    }

    @Test("with the discount one pays in the onboarding, before signing in, and not again")
    func discount() async throws {
      try await withStoreFolder { folder in
        let app = try TestApp(in: folder, product: .discount, fixture: fixture("books.json"))
        await app.wait(for: "onboarding")
        await app.perform("next")
        await app.perform("next")
        await app.perform("takeOffer")
        await app.wait(for: "payment")
        #expect(await app.screen?.price == 200)
        await app.pay()
        await app.signIn()
        await app.waitForBooks()
        let id = try #require(await app.screen?.books?.last?.id)
        await app.perform("open", id)
        await app.wait(for: "book")
        #expect(
          app.shown == [
            "root onboarding", "root payment", "root signIn", "root catalogue", "push book",
          ])
        #expect(app.refusals == [])
      }
    }

    @Test("in the open product the catalogue is there at once, and sign-in comes before a book")
    func open() async throws {
      try await withStoreFolder { folder in
        let app = try TestApp(in: folder, fixture: fixture("books.json"))
        await app.passOnboarding()
        await app.waitForBooks()
        await app.perform("find", "the ladder")
        await app.wait { $0.books?.count == 6 }
        let id = try #require(await app.screen?.books?.first?.id)

        await app.perform("open", id)
        await app.wait(for: "signIn")
        await app.perform("back")
        await app.wait(for: "catalogue")
        await app.perform("open", id)
        await app.signIn()
        await app.wait(for: "payment")
        await app.perform("back")
        await app.wait(for: "catalogue")
        await app.perform("open", id)
        await app.wait(for: "payment")
        await app.perform("pay", "4111")
        #expect(await app.screen?.error == "The card was declined. Nothing was charged.")
        await app.pay()
        await app.wait(for: "book")

        #expect(await app.screen?.book?.id == id)
        #expect(app.messages == ["SMS to +4790000000: your code is 1234"])
        #expect(app.refusals == [])
      }
    }

    @Test("the next start knows who was there, what was paid, and the stars and the basket")
    func restart() async throws {
      try await withStoreFolder { folder in
        let first = try TestApp(in: folder, fixture: fixture("books.json"))
        await first.passOnboarding()
        await first.waitForBooks()
        let id = try #require(await first.screen?.books?.first?.id)
        await first.perform("open", id)
        await first.signIn()
        await first.pay()
        await first.wait(for: "book")
        await first.perform("rate", number: 4)
        await first.perform("basket")

        let second = try TestApp(in: folder, fixture: fixture("books.json"))
        await second.wait(for: "catalogue")
        await second.wait { $0.books?.first?.rating == 4 }
        await second.wait { $0.basketCount == 1 }
        await second.perform("open", id)
        await second.wait(for: "book")

        #expect(await second.screen?.book?.rating == 4)
        #expect(await second.screen?.book?.isInBasket == true)
        #expect(second.shown == ["root catalogue", "push book"])
      }
    }

    @Test("who signs out has to be let in again: at once, or before the next book")
    func signOut() async throws {
      for product in [Product.original, .open] {
        try await withStoreFolder { folder in
          let app = try TestApp(in: folder, product: product, fixture: fixture("books.json"))
          await app.passOnboarding()
          if product == .original { await app.signIn() }
          await app.waitForBooks()
          let id = try #require(await app.screen?.books?.first?.id)
          await app.perform("open", id)
          if product == .open { await app.signIn() }
          await app.pay()
          await app.wait(for: "book")
          await app.perform("back")
          await app.wait(for: "catalogue")
          await app.perform("settings")
          await app.wait(for: "settings")
          #expect(await app.screen?.isPaid == true)

          app.clock.advance(by: .seconds(60))
          await app.perform("signOut")

          if product == .open {
            await app.wait(for: "catalogue")
            await app.perform("open", id)
            await app.signIn("+4790000001")
            await app.wait(for: "book")
          } else {
            await app.signIn("+4790000001")
            await app.wait(for: "catalogue")
          }
          #expect(app.router.openScreens.filter { $0 == "catalogue" }.count == 1)
          #expect(app.refusals == [])
        }
      }
    }

    @Test(
      "the book of the month opens by push in the catalogue, stays or is pushed on a book, and stands above the settings"
    )
    func link() async throws {
      try await withStoreFolder { folder in
        let app = try TestApp(in: folder, fixture: fixture("books.json"))
        await app.passOnboarding()
        await app.waitForBooks()
        let link = "bookshop://book-of-the-month"
        await app.perform("link", link)
        await app.signIn()
        await app.pay()
        await app.wait(for: "book")
        let month = try #require(await app.screen?.book?.id)
        await app.perform("link", link)
        await app.events.wait { $0.how == "stay" }
        #expect(app.router.openScreens == ["catalogue", "book"])
        await app.perform("back")
        await app.wait(for: "catalogue")
        let other = try #require(await app.screen?.books?.first { $0.id != month }?.id)
        await app.perform("open", other)
        await app.wait { $0.book?.id == other }
        await app.perform("link", link)
        await app.wait { $0.book?.id == month }
        #expect(app.router.openScreens == ["catalogue", "book", "book"])
        await app.perform("back")
        await app.wait { $0.book?.id == other }
        await app.perform("back")
        await app.wait(for: "catalogue")
        await app.perform("settings")
        await app.wait(for: "settings")
        await app.perform("link", link)
        await app.wait { $0.book?.id == month }

        #expect(
          Array(app.shown.suffix(6)) == [
            "push book", "stay book", "push book", "push book", "modal settings", "modal book",
          ])
        await app.perform("link", "bookshop://book/none")
        await app.waitForMessage("leads to no book")
      }
    }

    @Test("two links to an unpaid book ask twice, and charge once")
    func paidOnce() async throws {
      try await withStoreFolder { folder in
        let app = try TestApp(in: folder, product: .original, fixture: fixture("books.json"))
        await app.passOnboarding()
        await app.signIn()
        await app.waitForBooks()
        await app.perform("link", "bookshop://book-of-the-month")
        await app.perform("link", "bookshop://book-of-the-month")
        await app.events.wait { $0.open == ["catalogue", "payment", "payment"] }
        await app.pay()
        await app.wait(for: "book")
        await app.perform("back")
        await app.wait(for: "payment")
        await app.perform("pay", "any card at all")
        await app.wait(for: "book")
        #expect(app.router.openScreens == ["catalogue", "book"])
      }
    }

    @Test("quitting settles the app")
    func quit() async throws {
      try await withStoreFolder { folder in
        let controller = AppController()
        let router = RemoteControlRouter { _ in }
        try controller.start(
          Configuration(
            store: folder.path(percentEncoded: false), gateway: DemoAuthGateway(fixedCode: nil)),
          router: router)
        await router.perform(line: #"{"do": "quit"}"#)
        await controller.outcome.value
      }
    }
  }
}
