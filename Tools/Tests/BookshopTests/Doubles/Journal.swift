/// What doubles were told, in order: `Router: show(book)`.
@MainActor final class Journal {
  private(set) var lines: [String] = []

  func note(_ receiver: String, _ message: String) { lines.append("\(receiver): \(message)") }
}
