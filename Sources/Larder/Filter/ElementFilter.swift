/// A condition on the elements of an array or a set, made ready once. Paths in it begin with the
/// element itself.
struct ElementFilter: Sendable {
  private let node: Node

  init(_ node: FilterNode) { self.node = Node(node) }

  /// Whether it holds for one of the elements of the array that `reader` stands in front of; nil
  /// has none.
  ///
  /// - Throws: ``RecordError`` when what is asked of an element cannot be read.
  func holdsForAny(in reader: inout ValueReader) throws(RecordError) -> Bool {
    guard !reader.skipNil() else { return false }
    for _ in 0..<(try reader.arrayCount()) {
      if try holds(for: reader) { return true }
      try reader.skip()
    }
    return false
  }

  /// Whether it holds for one of the elements of an array of scalars that is stored nowhere.
  func holdsForAny(in value: Value) -> Bool {
    guard case .array = value else { return false }
    var writer = RecordWriter(binding: .none)
    writer.putNatural(value)
    return writer.withBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      var reader = ValueReader(start, start + bytes.count, binding: .none, depth: 0)
      do throws(RecordError) {
        return try holdsForAny(in: &reader)
      } catch {
        return false  // Bytes that were just written can be read.
      }
    }
  }

  /// Whether it holds for the element that `reader` stands in front of.
  func holds(for element: ValueReader) throws(RecordError) -> Bool {
    try holds(node, element)
  }
}

extension ElementFilter {
  private indirect enum Node: Sendable {
    case constant(Bool)
    case conjunction([Node])
    case disjunction([Node])
    case not(Node)
    case test(Operand, Evaluation.Test)
    case relation(Operand, Relation, Operand)

    init(_ node: FilterNode) {
      switch node {
      case .constant(let value): self = .constant(value)
      case .conjunction(let parts): self = .conjunction(parts.map { Node($0) })
      case .disjunction(let parts): self = .disjunction(parts.map { Node($0) })
      case .not(let part): self = .not(Node(part))
      case .test(let operand, let comparison):
        self = .test(operand, Evaluation.Test(comparison))
      case .relation(let left, let relation, let right):
        self = .relation(left, relation, right)
      case .behind, .tooDeep: self = .constant(false)  // Neither is asked of an element.
      }
    }
  }

  private func holds(_ node: Node, _ element: ValueReader) throws(RecordError) -> Bool {
    switch node {
    case .constant(let value): return value
    case .conjunction(let parts):
      for part in parts where !(try holds(part, element)) { return false }
      return true
    case .disjunction(let parts):
      for part in parts where try holds(part, element) { return true }
      return false
    case .not(let part): return !(try holds(part, element))
    case .test(.field(let path), let test):
      switch try element.destination(path.dropFirst()) {
      case .absent(let value): return test.holds(for: value)
      case .value(var reader): return try test.holds(for: &reader, as: path[path.count - 1].kind)
      }
    case .test(let operand, let test): return test.holds(for: try operand.value(element))
    case .relation(let left, let relation, let right):
      return relation.holds(try left.value(element), try right.value(element))
    }
  }
}

extension Operand {
  /// The value in the element that `reader` stands in front of, where the first step of a path is
  /// the element itself.
  fileprivate func value(_ element: ValueReader) throws(RecordError) -> Value {
    switch self {
    case .computed(let computed): return try computed.value(element)
    case .field(let path):
      switch try element.destination(path.dropFirst()) {
      case .absent(let value): return value
      case .value(var reader): return try reader.value().read(as: path[path.count - 1].kind)
      }
    case .derived(let path, let derivation):
      switch try element.destination(path.dropFirst()) {
      case .absent(let value): return derivation(value)
      case .value(var reader): return try derivation(&reader, as: path[path.count - 1].kind)
      }
    }
  }
}
