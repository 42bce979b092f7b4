// How a text tells what is wrong. Nothing here runs unless an import fails.

extension TextWindow {
  /// A refusal of `kind` at `position`.
  func error(
    _ kind: ImportError.Kind, at position: TextPosition, found: String, expected: String
  ) -> ImportError {
    ImportError(
      kind, file: source.name, position: position, found: found, expected: expected)
  }

  /// A refusal of more than a limit allows of something that begins at `position`.
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
      // Letters that cannot be read are missing in a message that is thrown anyway.
      if byteCount > 4 { _ = try? has(byteCount) } else { _ = try has(byteCount) }
      guard let sight = sight(of: head(byteCount)) else { return notUTF8() }
      var error = error(.syntax, at: position, found: sight.found, expected: expected)
      error.reason = sight.reason
      return error
    } catch {
      return error
    }
  }

  /// A refusal of the bytes at `next`, which are no scalar in UTF-8.
  mutating func notUTF8() -> ImportError {
    do { _ = try has(4) } catch { return error }
    var error = error(
      .encoding, at: position, found: brokenSight(of: head(4)), expected: "UTF-8")
    error.reason = .notUTF8
    return error
  }

  /// Moves over a byte order mark, and refuses what begins like UTF-16 or UTF-32; call it at the
  /// beginning.
  mutating func requirePlainUTF8() throws(ImportError) {
    try skipByteOrderMark()
    _ = try has(4)
    guard let (found, expected, reason) = foreignEncoding(of: head(4)) else { return }
    var error = error(.encoding, at: position, found: found, expected: expected)
    error.reason = reason
    throw error
  }

  /// The bytes in sight from `next` on, at most `count`.
  private func head(_ count: Int) -> [UInt8] {
    Array(UnsafeBufferPointer(start: bytes.base + next, count: min(end - next, count)))
  }
}

extension ImportError {
  /// A line, or a document, of more bytes than it may have.
  static func tooLong(
    _ limit: Limit, _ byteCount: Int, file: String, position: TextPosition?
  ) -> ImportError {
    let noun = limit == .lineByteCount ? "line" : "document"
    return ImportError(
      .limit(limit), file: file, position: position,
      found: "a \(noun) of more than \(byteCount) bytes",
      expected: "at most \(byteCount) bytes in one \(noun) (\(limit.rawValue))")
  }
}
