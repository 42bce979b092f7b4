internal import Larder

/// The fields that the columns of a header mean, put together one column after the other.
struct CSVFieldTree {
  private var nodes: [(name: String, content: Content)] = []
  /// Where the field of a name stands among them.
  private var places: [String: Int] = [:]
  /// All columns in it, however deep.
  private var columns: [Int] = []
  private let allowsNil: Bool

  private indirect enum Content {
    case column(Int)
    case document(CSVFieldTree)
  }

  init(allowsNil: Bool) { self.allowsNil = allowsNil }

  /// A path that is there already: a second time, or as a document and as a column of JSON.
  struct Clash: Error {
    let isSecond: Bool
  }

  /// Adds the field down a path, which is not empty; after an error the tree is of no use.
  mutating func add(
    _ column: Int, _ path: ArraySlice<String>, _ place: FieldPlace?
  ) throws(Clash) {
    guard let name = path.first else { return }
    columns.append(column)
    let rest = path.dropFirst()
    let known = places[name]
    guard !rest.isEmpty else {
      if let known {
        guard case .column = nodes[known].content else { throw Clash(isSecond: false) }
        throw Clash(isSecond: true)
      }
      return append(name, .column(column))
    }
    let member = place?.member(name)
    guard let known else {
      var document = CSVFieldTree(allowsNil: member?.allowsNil ?? true)
      try document.add(column, rest, member)
      return append(name, .document(document))
    }
    guard case .document(var document) = nodes[known].content else {
      throw Clash(isSecond: false)
    }
    // Given up while it changes, so that it is not copied for each column.
    nodes[known].content = .column(column)
    try document.add(column, rest, member)
    nodes[known].content = .document(document)
  }

  private mutating func append(_ name: String, _ content: Content) {
    places[name] = nodes.count
    nodes.append((name, content))
  }

  /// The fields, in the order of their first columns.
  var fields: [CSVField] {
    nodes.map { name, content in
      switch content {
      case .column(let column): CSVField(name: name, content: .column(column))
      case .document(let tree):
        CSVField(
          name: name,
          content: .document(
            CSVField.Document(
              fields: tree.fields, columns: tree.columns, allowsNil: tree.allowsNil)))
      }
    }
  }
}
