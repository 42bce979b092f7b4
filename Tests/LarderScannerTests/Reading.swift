import LarderScanner

/// The declaration in a piece of source.
func declaration(_ source: String) -> Declaration { Declaration(reading: source) }

/// The variables of a struct with this body.
func variables(_ body: String) -> [Variable] {
  declaration("struct S {\n\(body)\n}").variables
}

/// Names, as a struct with this body declares them, in order.
func names(_ body: String) -> [String] { variables(body).map(\.name.text) }

/// The initial values of a struct with this body, `nil` where there is none.
func values(_ body: String) -> [String?] { variables(body).map(\.initialValue?.text) }

extension Variable {
  /// How it is stored, in a word.
  var summary: String {
    var words = storage == .stored ? "stored" : "computed"
    if isObserved { words += " observed" }
    return words
  }
}
