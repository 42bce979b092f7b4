/// How a screen comes to be seen.
enum Transition: String, Sendable, CaseIterable {
  /// At the bottom, below everything.
  case root
  /// On top of the screen that is shown, in its own row: back leads there.
  case push
  /// Above a screen that has no row to push to.
  case modal
  /// It is shown already; nothing happens.
  case stay
}

/// Which screens are open, the one that is seen last. Decides how the next one is shown, and knows
/// nothing of terminals: both routers have one.
@MainActor struct ScreenStack {
  struct Entry {
    let screen: Screen
    let transition: Transition
  }

  private(set) var entries: [Entry] = []

  var top: Entry? { entries.last }

  /// Decides how a screen is shown where this one is.
  static func transition(to screen: ScreenName, over top: ScreenName?) -> Transition {
    guard let top else { return .root }
    return switch (top, screen) {
    // The root of everything, below whatever is still open.
    case (_, .catalogue): .root
    case (.book(let shown), .book(let wanted)) where shown == wanted: .stay
    case (.settings, .settings): .stay
    // The reader is looking at books: one more of them.
    case (.catalogue, .book), (.book, .book): .push
    // Anything else is not to be interrupted.
    case (_, .book): .modal
    // A page of its own, which has no row.
    case (_, .settings): .modal
    case (.settings, _): .modal
    case (_, .onboarding), (_, .signIn), (_, .payment): .push
    }
  }

  /// Opens a screen.
  ///
  /// - Returns: How, and the view model that is shown no more, or never was.
  mutating func show(_ screen: Screen) -> (Transition, dismissed: (any ViewModel)?) {
    let transition = Self.transition(to: screen.name, over: top?.screen.name)
    let entry = Entry(screen: screen, transition: transition)
    switch transition {
    case .stay: return (transition, screen.viewModel)
    case .push, .modal: entries.append(entry)
    case .root:
      if let bottom = entries.first, bottom.screen.name == screen.name {
        entries[0] = entry
        return (transition, bottom.screen.viewModel)
      }
      entries.insert(entry, at: 0)
    }
    return (transition, nil)
  }

  /// - Returns: Whether it was open.
  mutating func close(_ viewModel: any ViewModel) -> Bool {
    guard let index = entries.firstIndex(where: { $0.screen.viewModel === viewModel }) else {
      return false
    }
    entries.remove(at: index)
    return true
  }
}
