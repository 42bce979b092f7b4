import Larder

/// A document that contains itself.
struct Node: Document, Identifiable, Equatable {
  var id: String
  var label = ""
  var children: [Node] = []

  init(id: String, label: String = "", children: [Node] = []) {
    self.id = id
    self.label = label
    self.children = children
  }

  /// A chain of documents, each inside the one before.
  init(depth: Int) {
    self.init(id: "1", children: [])
    for level in 2..<depth + 1 { self = Node(id: "\(level)", children: [self]) }
  }

  static let schema = Schema<Node>(
    "Node", key: \.id,
    fields: [
      Field("id", \.id), Field("label", \.label, default: ""), Field("children", \.children),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(label, at: 1)
    record.put(children, at: 2)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    label = try record.get(1)
    children = try record.get(2)
  }
}

/// A document of many fields; each is put in the order that `order` gives.
struct Wide: Document, Equatable {
  static let count = 300

  var values: [String?]
  var order = Array(0..<count)

  var entityAccessorKey: String { values[0] ?? "" }

  init(values: [String?], order: [Int] = Array(0..<count)) {
    self.values = values
    self.order = order
  }

  static func == (left: Wide, right: Wide) -> Bool { left.values == right.values }

  subscript(field: Int) -> String? { values[field] }

  static let schema = Schema<Wide>(
    "Wide", key: \.[0], fields: (0..<count).map { Field("f\($0)", \.[$0]) })

  func encode(into record: inout RecordWriter) {
    for field in order { record.put(values[field], at: field) }
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    values = []
    for field in 0..<Self.count { values.append(try record.get(field)) }
  }
}

/// An embedded document without any field.
struct Nothing: EmbeddedDocument, Equatable, Hashable {
  init() {}
  static let schema = Schema<Nothing>("Nothing", fields: [])
  func encode(into record: inout RecordWriter) {}
  init(from record: borrowing RecordReader) throws(RecordError) {}
}
