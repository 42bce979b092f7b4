/// Where something stands in a file.
struct Place: Equatable {
  let file: String
  /// In UTF-8.
  let offset: Int

  static let nowhere = Place(file: "", offset: 0)

  var json: JSON {
    .object(["fileName": .string(file), "offset": .number(Double(offset))])
  }
}

/// What the compiler is to tell about the source.
struct Diagnostic: Equatable {
  enum Severity: String {
    case error, warning
  }

  let message: String
  let place: Place
  let severity: Severity
  /// Other places that have to do with it.
  let notes: [(message: String, place: Place)]

  init(
    _ message: String, at place: Place, severity: Severity = .error,
    notes: [(message: String, place: Place)] = []
  ) {
    self.message = message
    self.place = place
    self.severity = severity
    self.notes = notes
  }

  static func == (left: Self, right: Self) -> Bool { left.json == right.json }

  var json: JSON {
    .object([
      "message": .string(message), "severity": .string(severity.rawValue),
      "position": place.json, "highlights": .array([]), "fixIts": .array([]),
      "notes": .array(
        notes.map { .object(["message": .string($0.message), "position": $0.place.json]) }),
    ])
  }
}
