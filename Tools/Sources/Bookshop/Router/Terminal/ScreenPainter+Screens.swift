// A function for each screen.

@MainActor extension ScreenPainter {
  func drawing(_ screen: Screen, _ face: inout ScreenFace, isModal: Bool, _ rows: Int) -> Drawing {
    let rows = max(1, isModal ? rows - 2 : rows)
    let columns = bodyColumns(isModal: isModal)
    switch screen {
    case .onboarding(let viewModel): return onboarding(viewModel, columns)
    case .signIn(let viewModel): return signIn(viewModel, &face, columns)
    case .payment(let viewModel): return payment(viewModel, face, columns)
    case .catalogue(let viewModel): return catalogue(viewModel, &face, columns, rows)
    case .book(let viewModel): return book(viewModel, &face, columns, rows)
    case .settings(let viewModel): return settings(viewModel, columns)
    }
  }

  private func paragraph(_ text: String, _ columns: Int, _ look: Look = []) -> [Line] {
    text.wrapped(to: columns - 1).map { Line(" " + $0, look) }
  }

  private func field(_ label: String, _ text: String, _ columns: Int) -> Line {
    let label = " \(label): "
    let room = max(1, columns - label.columnCount - 1)
    // Its end is what is being typed.
    var seen = text.printable
    while seen.columnCount > room { seen.removeFirst() }
    return Line(label) + Line(seen, .bold) + Line(" ", .reversed)
  }

  private func onboarding(_ viewModel: any OnboardingViewModel, _ columns: Int) -> Drawing {
    var drawing = Drawing(
      title: "Bookshop", note: "\(viewModel.index + 1)/\(viewModel.pages.count)",
      help: "Enter next   q quit")
    drawing.body = ["", Line(" Bookshop", .bold), ""]
    drawing.body += paragraph(viewModel.pages[viewModel.index], columns)
    if viewModel.isLast, viewModel.offer != nil {
      drawing.help = "o take the offer   Enter not now   q quit"
    }
    return drawing
  }

  private func signIn(
    _ viewModel: any SignInViewModel, _ face: inout ScreenFace, _ columns: Int
  ) -> Drawing {
    // A phone that was refused stays to be mended; the code has a field of its own.
    if face.phone != viewModel.phone {
      face.phone = viewModel.phone
      face.draft = ""
    }
    var drawing = Drawing(title: "Sign in", help: "Enter send")
    drawing.body = [""]
    if let phone = viewModel.phone {
      drawing.body += paragraph("A code was sent to \(phone).", columns)
      drawing.body += ["", field("Code", face.draft, columns), ""]
      let seconds = viewModel.secondsUntilNextCode
      let next = seconds > 0 ? "another code in \(seconds) s" : "^R another code"
      drawing.body += paragraph(next, columns, .dim)
      drawing.help = "Enter sign in   ^R another code"
    } else {
      drawing.body += paragraph("Books are for readers with a phone.", columns)
      drawing.body += ["", field("Phone", face.draft, columns), ""]
    }
    drawing.help += viewModel.isOptional ? "   Esc not now" : "   ^C quit"
    drawing.body += state(viewModel.error, viewModel.isBusy, columns)
    return drawing
  }

  private func payment(
    _ viewModel: any PaymentViewModel, _ face: ScreenFace, _ columns: Int
  ) -> Drawing {
    var drawing = Drawing(title: "Subscription", help: "Enter pay   Esc not now")
    drawing.body = [""]
    drawing.body += paragraph("All books, for \(money(viewModel.offer.price)).", columns)
    drawing.body += ["", field("Card", face.draft, columns), ""]
    drawing.body += paragraph("This shop takes no money: 4111 1111 1111 1111.", columns, .dim)
    drawing.body += state(viewModel.error, viewModel.isBusy, columns)
    return drawing
  }

  private func state(_ error: String?, _ isBusy: Bool, _ columns: Int) -> [Line] {
    if isBusy { return ["", Line(" …", .dim)] }
    guard let error else { return [] }
    return [""] + paragraph(error, columns, .alert)
  }

  private func settings(_ viewModel: any SettingsViewModel, _ columns: Int) -> Drawing {
    var drawing = Drawing(title: "Settings", help: "Esc back")
    drawing.body = [""]
    drawing.body += paragraph("Signed in: \(viewModel.phone ?? "no")", columns)
    drawing.body += paragraph("Subscription: \(viewModel.isPaid ? "paid" : "not paid")", columns)
    if viewModel.phone != nil { drawing.help = "o sign out   Esc back" }
    return drawing
  }

  private func catalogue(
    _ viewModel: any CatalogueViewModel, _ face: inout ScreenFace, _ columns: Int, _ rows: Int
  ) -> Drawing {
    let count = viewModel.books.count
    var drawing = Drawing(
      title: viewModel.search.isBasketOnly ? "Basket" : "Catalogue",
      note: viewModel.isRefreshing
        ? "refreshing…"
        : (viewModel.sync.map { "\($0)   " } ?? "") + (viewModel.isStale ? "may be old   " : "")
          + "\(count) \(count == 1 ? "book" : "books")"
          + "   basket \(viewModel.basket.count) · \(money(viewModel.basketPrice))",
      help: "Enter open  / find  b basket  r refresh  s settings  ^L book of the month  q quit")
    if face.isSearching {
      drawing.body.append(field("Find", viewModel.search.text, columns))
      drawing.help = "Enter done   Esc all books"
    } else if !viewModel.search.text.isEmpty {
      drawing.body.append(Line(" Find: \(viewModel.search.text)", .dim))
    }
    if !viewModel.isLoaded { drawing.body += paragraph("…", columns, .dim) }
    if viewModel.isLoaded, viewModel.books.isEmpty {
      let text = viewModel.isFilling ? "The first books are being brought in…" : "No books here."
      drawing.body += paragraph(text, columns, .dim)
    }
    face.follow(viewModel.books.lazy.map(\.id), seen: max(1, rows - drawing.body.count))
    let seen = viewModel.books.dropFirst(face.scroll).prefix(max(0, rows - drawing.body.count))
    drawing.body += seen.map { book in
      let line = row(book, drawn(viewModel.stars(of: book.id)), columns + 2)
      return book.id == face.selected ? line.with(.reversed) : line
    }
    return drawing
  }

  /// Stars as there is room for them: other devices may have sent any number.
  private func drawn(_ stars: Int?) -> Int { min(max(stars ?? 0, 0), 5) }

  /// A book in a row: what there is no room for is left out, the price never.
  private func row(_ book: Book, _ starCount: Int, _ columns: Int) -> Line {
    let price = money(book.price).fitted(to: max(8, money(book.price).count), atEnd: true) + " "
    let mark = book.isInBasket ? " + " : "   "
    var room = columns - mark.columnCount - price.columnCount
    var year = ""
    var stars = ""
    var author = ""
    if room >= 34 {
      stars = " " + String(repeating: "★", count: starCount).fitted(to: 5)
      room -= 6
    }
    if room >= 48 {
      year = "\(book.year)".fitted(to: 7, atEnd: true)
      room -= 7
    }
    if room >= 40 {
      let width = min(26, room / 3)
      author = "  " + book.author.printable.fitted(to: width)
      room -= width + 2
    }
    let title = book.title.isEmpty ? "(no title)" : book.title.printable
    return Line(mark, .gold) + Line(title.fitted(to: max(0, room)), .bold) + Line(author)
      + Line(year, .dim) + Line(stars, .gold) + Line(price)
  }

  private func book(
    _ viewModel: any BookViewModel, _ face: inout ScreenFace, _ columns: Int, _ rows: Int
  ) -> Drawing {
    var drawing = Drawing(
      title: "Book", help: "1-5 stars  b basket  Esc back  ^L book of the month")
    guard let book = viewModel.book else {
      let text = viewModel.isLoaded ? "This book is not in the catalogue any more." : "…"
      drawing.body = [""] + paragraph(text, columns, .dim)
      return drawing
    }
    drawing.note = book.isInBasket ? "in the basket" : ""
    var lines: [Line] = [""]
    lines += paragraph(book.title.isEmpty ? "(no title)" : book.title, columns, .bold)
    lines += paragraph(book.author, columns)
    lines += paragraph("\(book.genre), \(book.year)", columns, .dim)
    lines.append("")
    let stars = drawn(viewModel.stars)
    lines.append(
      Line(" " + String(repeating: "★", count: stars), .gold)
        + Line(String(repeating: "☆", count: 5 - stars), .dim) + Line("   \(money(book.price))"))
    lines.append("")
    lines += paragraph(book.blurb, columns)
    face.scroll = max(0, min(face.scroll, lines.count - rows))
    drawing.body = Array(lines.dropFirst(face.scroll))
    return drawing
  }
}

// A list of any length is drawn at one cost: of its ids only a few are looked at.
extension ScreenFace {
  /// Keeps the selection on its book, or near where that was, and in sight.
  mutating func follow<IDs>(_ ids: IDs, seen count: Int)
  where IDs: RandomAccessCollection<Book.ID>, IDs.Index == Int {
    if ids.indices.contains(row), ids[row] == selected {
      // Where it was: nobody has to look for it.
    } else if let index = selected.flatMap(ids.firstIndex(of:)) {
      row = index
    } else {
      row = max(0, min(row, ids.count - 1))
      selected = ids.isEmpty ? nil : ids[row]
    }
    scroll = max(0, min(max(min(scroll, row), row - count + 1), ids.count - count))
  }

  mutating func move<IDs>(by rows: Int, in ids: IDs)
  where IDs: RandomAccessCollection<Book.ID>, IDs.Index == Int {
    guard !ids.isEmpty else { return }
    row = max(0, min(row + rows, ids.count - 1))
    selected = ids[row]
  }
}
