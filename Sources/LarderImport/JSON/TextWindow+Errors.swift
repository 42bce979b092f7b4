// How a window tells what it sees. Nothing here runs unless an import fails.

extension TextWindow {
  /// A refusal of `kind` at `position`, or where the window stands.
  @inline(never)
  func error(
    _ kind: ImportError.Kind, at position: TextPosition? = nil, found: String, expected: String
  ) -> ImportError {
    ImportError(
      kind, file: source.name, position: position ?? self.position, found: found,
      expected: expected)
  }

  /// A refusal of more than a limit allows of something that begins at `position`.
  @inline(never)
  func error(
    _ limit: ImportError.Limit, _ most: Int, of things: String, at position: TextPosition
  ) -> ImportError {
    error(
      .limit(limit), at: position, found: "more than \(most) \(things)",
      expected: "at most \(most) (\(limit.rawValue))")
  }

  /// A refusal of what stands at `next`.
  ///
  /// When that cannot be read, the error of reading it is returned instead.
  @inline(never)
  mutating func unexpected(_ expected: String) -> ImportError {
    do {
      let byteCount = sightByteCount(try peek() ?? 0)
      _ = try has(byteCount)
      guard let found = sight(of: head(byteCount)) else { return try notUTF8() }
      return error(.syntax, found: found, expected: expected)
    } catch {
      return error
    }
  }

  /// A refusal of the bytes at `next`, which are no scalar in UTF-8.
  mutating func notUTF8() throws(ImportError) -> ImportError {
    _ = try has(4)
    return error(.encoding, found: brokenSight(of: head(4)), expected: "UTF-8")
  }

  private func head(_ count: Int) -> [UInt8] { Array(buffer[next..<min(end, next + count)]) }
}
