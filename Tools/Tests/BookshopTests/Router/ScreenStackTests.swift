import Foundation
import Testing

@testable import Bookshop

@MainActor struct ScreenStackTests {
  private let journal = Journal()

  private func screen(_ name: String) -> Screen {
    switch name {
    case "onboarding": .onboarding(OnboardingDouble(journal))
    case "signIn": .signIn(SignInDouble(journal))
    case "payment": .payment(PaymentModelDouble(journal))
    case "catalogue": .catalogue(CatalogueModelDouble(journal))
    case "settings": .settings(SettingsDouble(journal))
    case "another book": .book(BookModelDouble(journal, "b"))
    default: .book(BookModelDouble(journal, "a"))
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
    #expect(Diagram.screenEdges.count == 8)
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

  @Test("every arrow between screens is gone", arguments: Diagram.screenEdges)
  func arrows(_ edge: Diagram.Edge) {
    // Where the reader stands before the arrow is gone.
    let places = [
      "[*]": [], "catalogue": ["catalogue"], "book": ["catalogue", "book"],
      "settings": ["catalogue", "settings"],
      "bookAbove": ["catalogue", "settings", "book"],
    ]
    let wanted = [
      "root": "catalogue", "push": "book", "modal": edge.to == "settings" ? "settings" : "book",
      "push (another book)": "another book", "stay (the same book)": "book",
    ]
    var stack = ScreenStack()
    for name in places[edge.from] ?? ["nowhere"] { _ = stack.show(screen(name)) }

    if edge.label == "back" {
      if let seen = stack.top?.screen.viewModel { _ = stack.close(seen) }
    } else if let name = wanted[edge.label] {
      let (transition, _) = stack.show(screen(name))
      #expect("\(edge.label) ".hasPrefix("\(transition.rawValue) "))
    } else {
      Issue.record("nobody goes this way: \(edge.label)")
    }

    #expect("\(stack.top?.screen.name ?? .payment)" == edge.to.replacing("Above", with: ""))
    #expect((stack.top?.transition == .modal) == ["settings", "bookAbove"].contains(edge.to))
  }
}
