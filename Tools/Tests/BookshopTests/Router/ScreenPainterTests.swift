import Testing

@testable import Bookshop

@MainActor @Suite(.timeLimit(.minutes(20))) struct ScreenPainterTests {
  private let journal = Journal()

  private func catalogue(_ books: [Book]) -> CatalogueModelDouble {
    CatalogueModelDouble(journal, books)
  }

  private func frame(
    _ screen: Screen, _ columns: Int, _ rows: Int, _ face: inout ScreenFace,
    isModal: Bool = false, message: String? = nil
  ) -> [Line] {
    let painter = ScreenPainter(columns: columns, rows: rows)
    let notice = message.map { Notice(text: $0, more: 1) }
    let drawing = painter.drawing(
      screen, &face, isModal: isModal, painter.bodyRows(notice))
    return painter.frame(
      drawing, isModal: isModal, message: notice)
  }

  private static let hardBook = Book(
    id: "h", title: "猫の帳簿 \u{1B}[2J 🦊 Cafe\u{301} " + String(repeating: "long ", count: 40),
    author: "田辺 美咲\u{202E}", price: 123_456_789, year: -350, genre: "g\u{7}",
    blurb: "a\r\nb\n\n" + String(repeating: "猫", count: 100) + " 👩‍👩‍👧 "
      + String(repeating: "x", count: 99),
    isInBasket: true)

  @Test("a frame has as many rows and columns as the terminal, whatever is shown and however small")
  func sizes() {
    let books = [Self.hardBook, .example("a"), .example("b", "")]
    let onboarding = OnboardingDouble(journal)
    onboarding.offer = .onboarding
    onboarding.index = 1
    let signIn = SignInDouble(journal)
    signIn.error = "\(AuthError.wrongCode)"
    let filling = catalogue([])
    filling.isFilling = true
    let screens: [Screen] = [
      .catalogue(catalogue(books)), .catalogue(filling),
      .book(BookModelDouble(journal, "h", Self.hardBook, stars: 3)),
      .book(BookModelDouble(journal, "none")), .onboarding(onboarding), .signIn(signIn),
      .payment(PaymentModelDouble(journal)), .settings(SettingsDouble(journal)),
    ]
    for screen in screens {
      for columns in [1, 2, 3, 5, 7, 11, 20, 33, 40, 59, 80, 200] {
        for rows in [1, 2, 3, 4, 5, 8, 24] {
          for isModal in [false, true] {
            var face = ScreenFace(draft: String(repeating: "猫a", count: 90))
            face.isSearching = rows == 8
            let messages = [5: "猫 \u{1B}[31m no network", 8: String(repeating: "猫 ab", count: 99)]
            let message = messages[rows]
            let lines = frame(screen, columns, rows, &face, isModal: isModal, message: message)
            #expect(lines.count == rows, "\(screen.name) in \(columns)x\(rows)")
            for line in lines {
              #expect(line.columnCount == columns, "\(screen.name) in \(columns)x\(rows)")
              #expect(!line.text.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" })
            }
          }
        }
      }
    }
  }

  @Test("a row of the catalogue has what there is room for, and always the price")
  func rows() {
    var book = Book.example("a", "A Title", price: 1290)
    book.isInBasket = true
    let viewModel = catalogue([book])
    viewModel.givenStars["a"] = 2
    var face = ScreenFace()
    let wide = frame(.catalogue(viewModel), 90, 6, &face).map(\.text)
    #expect(wide[0].hasPrefix(" Catalogue"))
    #expect(wide[0].contains("1 book   basket 1 · 12.90"))
    for part in [" + ", "A Title", "An Author", "2001", "★★", "12.90"] {
      #expect(wide[1].contains(part), "\(part)")
    }
    let narrow = frame(.catalogue(viewModel), 24, 6, &face).map(\.text)
    #expect(narrow[1].contains("A Title"))
    #expect(narrow[1].contains("12.90"))
    #expect(!narrow[1].contains("An Author"))
  }

  @Test("an empty catalogue says whether its first books are still coming")
  func filling() {
    let viewModel = catalogue([])
    var face = ScreenFace()
    for (isFilling, text) in [
      (true, " The first books are being brought in…"), (false, " No books here."),
    ] {
      viewModel.isFilling = isFilling
      #expect(frame(.catalogue(viewModel), 60, 6, &face)[1].text.hasPrefix(text))
    }
  }

  @Test("a catalogue that could not be refreshed says that it may be old")
  func stale() {
    let viewModel = catalogue([.example("a")])
    var face = ScreenFace()
    for isStale in [false, true] {
      viewModel.isStale = isStale
      let title = frame(.catalogue(viewModel), 80, 6, &face)[0].text
      #expect(title.contains("1 book"))
      #expect(title.contains("may be old") == isStale)
    }
  }

  @Test("a message is read to its end where the window has room, and ends with dots where not")
  func messages() {
    var face = ScreenFace()
    let text = "The shop's server cannot be reached (nobody is there). The books are as they were."
    let settings = Screen.settings(SettingsDouble(journal))
    let wide = frame(settings, 60, 12, &face, message: text).map(\.text)
    #expect(wide[9].hasPrefix(" ! The shop's server cannot be reached (nobody is"))
    #expect(wide[10].hasPrefix("   there). The books are as they were. "))
    #expect(wide[10].hasSuffix(" (+1) [x] "))
    let low = frame(settings, 60, 5, &face, message: text).map(\.text)
    #expect(low[3].hasPrefix(" ! The shop's server cannot be reached (nobody is"))
    #expect(low[3].hasSuffix("… (+1) [x] "))
  }

  @Test("the selection stays on its book while others come and go, and in sight")
  func selection() {
    var face = ScreenFace()
    face.follow(["a", "b", "c"], seen: 2)
    #expect(face.selected == "a")
    face.move(by: 1, in: ["a", "b", "c"])
    face.follow(["x", "y", "z", "a", "b", "c"], seen: 2)
    #expect(face.selected == "b")
    #expect(face.row == 4)
    #expect((face.scroll..<face.scroll + 2).contains(4))
    face.follow(["x", "y"], seen: 2)
    #expect(face.selected == "y")
    face.follow([], seen: 2)
    #expect(face.selected == nil)
    face.move(by: 1, in: [])
    face.follow(["x"], seen: 0)
    #expect(face.selected == "x")
  }

  @Test("texts are cut and filled to columns, of which wide letters take two and marks none")
  func widths() {
    #expect("abc".columnCount == 3)
    #expect("猫の帳簿".columnCount == 8)
    #expect("Cafe\u{301}".columnCount == 4)
    #expect("👩‍👩‍👧".columnCount == 2)
    #expect("🦊".columnCount == 2)
    #expect("abc".fitted(to: 5) == "abc  ")
    #expect("abc".fitted(to: 5, atEnd: true) == "  abc")
    #expect("abcdef".fitted(to: 4) == "abc…")
    #expect("猫の帳簿".fitted(to: 6) == "猫の… ")
    #expect("猫の帳簿".fitted(to: 5) == "猫の…")
    #expect("a b  c\nd".wrapped(to: 3) == ["a b", "c", "d"])
    #expect("abcdefgh i".wrapped(to: 3) == ["abc", "def", "gh", "i"])
    #expect("one\r\n\r\ntwo".wrapped(to: 9) == ["one", "", "two"])
    #expect("a\u{1B}b\tc\u{85}".printable == "a\u{FFFD}b c ")
  }

  @Test("letters that are typed are text where text is asked for, and commands elsewhere")
  func keys() {
    let viewModel = catalogue([.example("a"), .example("b")])
    let screen = Screen.catalogue(viewModel)
    var face = ScreenFace()
    _ = frame(screen, 80, 10, &face)

    _ = screen.press(.down, &face, 10)
    _ = screen.press(.enter, &face, 10)
    #expect(journal.lines == ["ViewModel: open b"])
    _ = screen.press(.character("/"), &face, 10)
    _ = screen.press(.character("q"), &face, 10)
    #expect(viewModel.search.text == "q")
    _ = screen.press(.backspace, &face, 10)
    _ = screen.press(.character("b"), &face, 10)
    #expect(viewModel.search == Search(text: "b"))
    _ = screen.press(.escape, &face, 10)
    #expect(viewModel.search == Search())
    _ = screen.press(.character("b"), &face, 10)
    #expect(viewModel.search == Search(isBasketOnly: true))
    for screen in [screen, .onboarding(OnboardingDouble(journal))] {
      guard case .quit = screen.press(.character("q"), &face, 10) else {
        Issue.record("q does not leave \(screen.name)")
        continue
      }
    }
  }
}
