// Lists in conditions, whose order says nothing. A set gives its elements in another order each time, also
// one that is equal, so that lists are put into an order of their own: a query that is written again is the
// same one, for cursors, watchers and partial indexes.

extension [Value] {
  /// Each of these values once, in an order that depends on the values alone.
  var inOwnOrder: [Value] {
    if count < 2 { return self }
    var keys = KeyList()
    var bytes = OrderedBytes(capacity: 256)
    var writer = RecordWriter(binding: .none, capacity: 64)
    for value in self {
      bytes.removeAll()
      writer.removeAll()
      bytes.put(whole: value)
      // What is equal without being alike, such as the spellings of a text, is told apart as it is written.
      writer.putNatural(value)
      writer.withBytes { bytes.append($0) }
      keys.append(bytes.bytes)
    }
    var ordered: [Value] = []
    ordered.reserveCapacity(count)
    keys.forEachSorted { place, isRepeated in
      let value = self[place]
      if isRepeated || ordered.last?.isEqual(to: value) == true { return }
      ordered.append(value)
    }
    return ordered
  }
}

extension Comparison {
  /// Whether a value is one of `values`, whatever their order.
  static func isOne(of values: [Value]) -> Comparison { .isAny(values.inOwnOrder) }
}

extension FilterNode {
  /// The same condition, as a list where it asks one field for one of several values: `a == 1 || a == 2`.
  var listed: FilterNode {
    guard case .disjunction(let parts) = self, case .test(.field(let path), _)? = parts.first
    else { return self }
    var values: [Value] = []
    for part in parts {
      guard case .test(.field(let other), let comparison) = part, other == path else { return self }
      switch comparison {
      case .compare(.equal, let value) where value != .null: values.append(value)
      case .isAny(let some): values += some
      default: return self
      }
    }
    return .test(.field(path), .isOne(of: values))
  }

  /// Conditions that ask one array for one of several elements, as one that looks through the array once; nil where they
  /// are others, or so few that looking through it for each of them is as fast.
  static func elementList(_ parts: [FilterNode]) -> FilterNode? {
    guard parts.count > fewElements, case .test(.field(let path), .containsElement)? = parts.first,
      let element = path.last?.kind.unwrapped.elementKind
    else { return nil }
    var values: [Value] = []
    values.reserveCapacity(parts.count)
    for part in parts {
      guard case .test(.field(path), .containsElement(let value)) = part, value != .null else {
        return nil
      }
      values.append(value)
    }
    let isOne = FilterNode.test(.field([.element(element)]), .isAny(values))
    return .test(.field(path), .containsMatch(isOne))
  }

  /// Up to so many elements are looked for one by one: of texts that compares bytes, and decodes none.
  private static let fewElements = 8

  /// The same condition with all of its lists in their own order: one that was stored by an older version,
  /// and one that names the elements of an array one by one.
  var withOrderedLists: FilterNode {
    switch self {
    case .conjunction(let parts): .conjunction(Self.ordered(parts))
    case .disjunction(let parts): .disjunction(Self.ordered(parts))
    case .not(let part): .not(part.withOrderedLists)
    case .test(let operand, .isAny(let values)): .test(operand, .isOne(of: values))
    case .test(let operand, .containsMatch(let part)):
      .test(operand, .containsMatch(part.withOrderedLists))
    default: self
    }
  }

  /// Elements of one array that are asked for one behind the other are a list.
  private static func ordered(_ parts: [FilterNode]) -> [FilterNode] {
    var ordered: [FilterNode] = []
    var rest = parts[...]
    while let part = rest.popFirst() {
      guard case .test(let operand, .containsElement(let element)) = part else {
        ordered.append(part.withOrderedLists)
        continue
      }
      var elements = [element]
      while case .test(operand, .containsElement(let next))? = rest.first {
        elements.append(next)
        rest.removeFirst()
      }
      ordered += elements.inOwnOrder.map { .test(operand, .containsElement($0)) }
    }
    return ordered
  }

  /// Encoded conditions as this version encodes them; as they are where they cannot be read, which is said
  /// where they are used.
  static func withOrderedLists(encoded bytes: [UInt8]) -> [UInt8] {
    guard let node = try? FilterNode(decoding: bytes) else { return bytes }
    let ordered = node.withOrderedLists
    return ordered == node ? bytes : ordered.encoded() ?? bytes
  }
}

extension Kind {
  /// The kind of the elements of an array or a set; nil for other kinds.
  fileprivate var elementKind: Kind? {
    switch self {
    case .array(let element), .set(let element): element
    default: nil
    }
  }
}
