/// What a key leads to.
enum KeyAction {
  case none
  case quit
  case work(@MainActor () async -> Void)
}

@MainActor extension Screen {
  /// Whether letters are text here.
  var isTyping: Bool {
    switch self {
    case .signIn, .payment: true
    case .onboarding, .catalogue, .book, .settings: false
    }
  }

  /// What a key does on this screen.
  ///
  /// - Parameter rows: How many rows a page has.
  func press(_ key: Key, _ face: inout ScreenFace, _ rows: Int) -> KeyAction {
    switch self {
    case .onboarding(let viewModel):
      if key == .enter || key == .right || key == .character(" ") { viewModel.next() }
      if key == .character("o") { viewModel.takeOffer() }
      if key == .character("q") { return .quit }
    case .signIn(let viewModel):
      if face.edit(key) { break }
      let draft = face.draft
      switch key {
      case .enter where draft.isEmpty: break
      case .enter where viewModel.phone == nil:
        return .work { await viewModel.submit(phone: draft) }
      case .enter:
        face.draft = ""
        return .work { await viewModel.submit(code: draft) }
      case .control("r"): return .work { await viewModel.resend() }
      case .escape: viewModel.close()
      default: break
      }
    case .payment(let viewModel):
      if face.edit(key) { break }
      let draft = face.draft
      if key == .enter, !draft.isEmpty {
        return .work { await viewModel.pay(card: draft) }
      }
      if key == .escape { viewModel.close() }
    case .catalogue(let viewModel):
      return face.isSearching
        ? search(viewModel, key, &face) : browse(viewModel, key, &face, rows)
    case .book(let viewModel): return read(viewModel, key, &face, rows)
    case .settings(let viewModel):
      if key == .character("o") { viewModel.signOut() }
      if key == .escape || key == .left || key == .character("q") { viewModel.close() }
    }
    return .none
  }

  private func search(
    _ viewModel: any CatalogueViewModel, _ key: Key, _ face: inout ScreenFace
  ) -> KeyAction {
    if face.edit(key) {
      viewModel.find(face.draft)
    } else if key == .enter || key == .down {
      face.isSearching = false
    } else if key == .escape {
      face.isSearching = false
      face.draft = ""
      viewModel.find("")
    }
    return .none
  }

  private func browse(
    _ viewModel: any CatalogueViewModel, _ key: Key, _ face: inout ScreenFace, _ rows: Int
  ) -> KeyAction {
    let ids = viewModel.books.lazy.map(\.id)
    switch key {
    case .up: face.move(by: -1, in: ids)
    case .down: face.move(by: 1, in: ids)
    case .pageUp: face.move(by: -rows, in: ids)
    case .pageDown: face.move(by: rows, in: ids)
    case .home: face.move(by: -ids.count, in: ids)
    case .end: face.move(by: ids.count, in: ids)
    case .enter, .right: if let id = face.selected, ids.contains(id) { viewModel.open(id) }
    case .character("/"): face.isSearching = true
    case .character("b"): viewModel.toggleBasketOnly()
    case .character("r"): return .work { await viewModel.refresh() }
    case .character("s"): viewModel.openSettings()
    case .character("q"): return .quit
    case .escape where !viewModel.search.text.isEmpty:
      face.draft = ""
      viewModel.find("")
    default: break
    }
    return .none
  }

  private func read(
    _ viewModel: any BookViewModel, _ key: Key, _ face: inout ScreenFace, _ rows: Int
  ) -> KeyAction {
    switch key {
    case .character(let digit) where ("1"..."5").contains(digit):
      guard let stars = digit.wholeNumberValue else { break }
      return .work { await viewModel.rate(stars) }
    case .character("b"): return .work { await viewModel.toggleBasket() }
    case .up: face.scroll -= 1
    case .down: face.scroll += 1
    case .pageUp: face.scroll -= rows
    case .pageDown, .character(" "): face.scroll += rows
    case .escape, .left, .character("q"): viewModel.close()
    default: break
    }
    return .none
  }
}

extension ScreenFace {
  /// Types or takes back a letter; returns false for a key that does neither.
  fileprivate mutating func edit(_ key: Key) -> Bool {
    switch key {
    case .character(let character):
      // Nobody types more, and a terminal may be pasted anything into.
      if draft.count < 200 { draft.append(character) }
    case .backspace: if !draft.isEmpty { draft.removeLast() }
    case .control("u"): draft = ""
    default: return false
    }
    return true
  }
}
