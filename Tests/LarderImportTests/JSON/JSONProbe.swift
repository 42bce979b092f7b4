import LarderImport

/// Runs the reader over texts for the tests of this folder.
enum JSONProbe {
  /// The whole text as one value.
  static func value(
    _ text: some StringProtocol, limits: JSONLimits = JSONLimits()
  ) throws(ImportError) -> JSONValue {
    try value(Array(text.utf8), limits: limits)
  }

  /// The whole text as one value, read in pieces of the given sizes.
  static func value(
    _ bytes: [UInt8], pieces: [Int] = [65_536], limits: JSONLimits = JSONLimits()
  ) throws(ImportError) -> JSONValue {
    try JSONValue(readingFrom: source(bytes, pieces, "test.json"), limits: limits)
  }

  /// All documents of the text.
  static func documents(
    _ text: some StringProtocol, _ shape: JSONShape, name: String = "test.json",
    limits: JSONLimits = JSONLimits()
  ) throws(ImportError) -> [JSONDocument] {
    let outcome = outcome(Array(text.utf8), shape, name: name, limits: limits)
    if let error = outcome.error { throw error }
    return outcome.documents
  }

  /// What a text came to: the documents before the end or the error.
  struct Outcome {
    var documents: [JSONDocument] = []
    var error: ImportError?

    /// Every byte of it, positions included; `==` on strings would take NFC and NFD for one.
    var exact: [UInt8] { Array("\(documents) \(String(describing: error))".utf8) }
  }

  /// Pulls documents to the end or the error.
  static func outcome(
    _ bytes: [UInt8], _ shape: JSONShape, name: String = "test.json", pieces: [Int] = [65_536],
    limits: JSONLimits = JSONLimits()
  ) -> Outcome {
    var outcome = Outcome()
    var documents = JSONDocuments(source(bytes, pieces, name), shape: shape, limits: limits)
    do throws(ImportError) {
      while let document = try documents.next() { outcome.documents.append(document) }
    } catch {
      outcome.error = error
    }
    return outcome
  }

  /// The error of reading the text as one value; `nil` when it is accepted.
  static func refusal(
    _ bytes: [UInt8], limits: JSONLimits = JSONLimits()
  ) -> ImportError? {
    do throws(ImportError) {
      _ = try value(bytes, limits: limits)
      return nil
    } catch {
      return error
    }
  }

  /// The error of reading the text as one value; `nil` when it is accepted.
  static func refusal(
    _ text: some StringProtocol, limits: JSONLimits = JSONLimits()
  ) -> ImportError? {
    refusal(Array(text.utf8), limits: limits)
  }

  private static func source(_ bytes: [UInt8], _ pieces: [Int], _ name: String) -> ByteSource {
    ByteSource(bytes: bytes, name: name, pieceByteCounts: pieces)
  }
}

/// Whether two values are equal to the last byte, member positions included.
func areExactlyEqual(_ left: JSONValue, _ right: JSONValue) -> Bool {
  Array("\(left)".utf8) == Array("\(right)".utf8)
}
