import Foundation
import Testing

@testable import Bookshop

@MainActor struct ScreenStackTests {
  private let journal = Journal()

  private func screen(_ name: String) -> Screen {
    switch name {
    case "onboarding": .onboarding(OnboardingViewModel(offer: nil))
    case "signIn": .signIn(SignInViewModel(auth: AuthDouble(journal), isOptional: true))
    case "payment":
      .payment(PaymentViewModel(payment: PaymentDouble(journal), offer: .regular))
    case "catalogue":
      .catalogue(CatalogueViewModel(catalogue: CatalogueDouble(journal)))
    case "settings":
      .settings(
        SettingsViewModel(
          auth: AuthDouble(journal), payment: PaymentDouble(journal), product: .open))
    case "another book": .book(BookViewModel(catalogue: CatalogueDouble(journal), id: "b"))
    default: .book(BookViewModel(catalogue: CatalogueDouble(journal), id: "a"))
    }
  }

  private func table() throws -> [[String]] {
    try Diagram.text("Router/Router.md").split(separator: "\n").filter { $0.hasPrefix("|") }
      .map { row in
        row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      }
  }

  @Test("every cell of the table is how the screen is shown")
  func cells() throws {
    let rows = try table()
    let wanted = rows[0].dropFirst()
    #expect(wanted.count == 7)
    #expect(rows.count == 9)
    for row in rows.dropFirst(2) {
      for (name, cell) in zip(wanted, row.dropFirst()) {
        var stack = ScreenStack()
        if row[0] != "nothing" { _ = stack.show(screen(row[0])) }
        let seen = stack.top?.screen.viewModel
        let new = screen(name)

        let (transition, dismissed) = stack.show(new)

        #expect(transition.rawValue == cell, "\(name) over \(row[0])")
        switch transition {
        case .stay:
          #expect(dismissed === new.viewModel)
          #expect(stack.top?.screen.viewModel === seen)
        case .push, .modal:
          #expect(dismissed == nil)
          #expect(stack.top?.screen.viewModel === new.viewModel)
        case .root: #expect(stack.entries.first?.screen.viewModel === new.viewModel)
        }
      }
    }
  }

  @Test(
    "the book of the month is pushed in the catalogue, stays or is pushed on a book, and stands above the settings"
  )
  func bookOfTheMonth() {
    var stack = ScreenStack()
    _ = stack.show(screen("catalogue"))
    let names = ["book", "book", "another book", "settings", "book", "another book"]
    let transitions = names.map { stack.show(screen($0)).0 }
    #expect(transitions == [.push, .stay, .push, .modal, .modal, .push])
    #expect(
      stack.entries.map { "\($0.screen.name)" } == [
        "catalogue", "book", "book", "settings", "book", "book",
      ])
  }

  @Test("a new catalogue goes below what is open, and takes the place of an old one")
  func root() {
    var stack = ScreenStack()
    let old = screen("catalogue")
    _ = stack.show(screen("settings"))
    _ = stack.show(old)
    #expect(stack.entries.map { "\($0.screen.name)" } == ["catalogue", "settings"])

    let (transition, dismissed) = stack.show(screen("catalogue"))

    #expect(transition == .root)
    #expect(dismissed === old.viewModel)
    #expect(stack.entries.map { "\($0.screen.name)" } == ["catalogue", "settings"])
  }

  @Test("a screen is closed wherever it stands, once")
  func close() {
    var stack = ScreenStack()
    let catalogue = screen("catalogue")
    let book = screen("book")
    _ = stack.show(catalogue)
    _ = stack.show(book)
    _ = stack.show(screen("another book"))
    let answers = [stack.close(book.viewModel), stack.close(book.viewModel)]
    #expect(answers == [true, false])
    #expect(stack.entries.map { $0.screen.name } == [.catalogue, .book("b")])
  }
}
