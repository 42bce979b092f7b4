// The places of a plan, made of what the catalogue, the caller and the documents so far say of them.

extension RecordPlan {
  /// What was seen in a place so far. Values that would change it are none of the plan's.
  private enum Sight {
    /// Nothing that anybody keeps.
    case nothing
    /// Fields that are new inside of documents that a type has declared.
    case declared(SeenValues)
    case inferred(SeenValues, stored: Kind<Int>?, rules: KindRules?, nesting: Int)
  }

  /// The member of a name in a place of documents; ``Member/other`` where the plan has nothing for it.
  mutating func makeMember(_ name: String, in number: Int) -> Member {
    let table = binding.collection.tables[documents[number].table]
    // Names are equal in every normalisation; of two such names in one object, one is no member.
    guard let slot = table.slot(of: name), table[slot].name.utf8.elementsEqual(name.utf8) else {
      return .other
    }
    // Made before, where the reader has given the numbers of names anew.
    var node = documents[number].children[name]
    if node == nil, let sight = sight(of: name, in: shapes[number]) {
      let (place, rules) = (documents[number].place, documents[number].rules)
      let made = self.node(
        table[slot].kind, sight, place?.anyMember(name), rules?.member(name))
      documents[number].children[name] = made
      node = made
    }
    guard let node else { return .other }
    return Member(
      slot: Int32(slot), node: Int32(node), isRequired: table[slot].isRequired)
  }

  private func sight(of name: String, in shape: InferredShape?) -> Sight? {
    guard let shape else { return .nothing }
    guard let values = shape.values(of: name) else { return nil }
    let stored = shape.stored(name)
    if stored?.isDeclared == true { return .declared(values) }
    return .inferred(
      values, stored: stored?.kind.unwrapped, rules: shape.rules?.member(name), nesting: 0)
  }

  private mutating func node(
    _ stored: Kind<Int>, _ sight: Sight, _ place: FieldPlace?, _ rules: KindRules?
  ) -> Int {
    var kind = stored
    if case .optional(let inner) = kind { kind = inner }
    let reading = rules?.kind ?? place?.kind
    var node = Node()
    node.tokens = tokens(kind, sight)
    if !stored.isOptional { node.tokens.remove(.null) }
    switch kind {
    case .string where reading?.readsText != true: node.form = .string
    case .bool: node.form = .bool
    case .integer(let width) where !isFloat(place): (node.form, node.width) = (.integer, width)
    case .double where !isFloat(place): node.form = .double
    case .float: node.form = .float
    case .date, .uuid, .url, .data, .decimal:
      node.form = .text
      node.kind = Int32(kinds.count)
      kinds.append(NodeKind(kind: kind, reading: reading))
    case .any where rules?.hasMembers != true && reading?.readsText != true && !hasPlaces(place):
      node.form = .any
    case .array(let element):
      guard let inner = inside(sight) else { break }
      node.form = .array
      node.inner = Int32(self.node(element, inner, place?.anyElement, rules))
    case .dictionary(.string, let value):
      // Names of which the rules or the catalogue know more are not all alike.
      guard let inner = inside(sight), rules?.hasMembers != true, place?.isDocument != true
      else { break }
      node.form = .dictionary
      node.inner = Int32(self.node(value, inner, place?.anyMember(""), nil))
    case .document(let table):
      guard let shape = shape(of: sight) else { break }
      node.form = .document
      node.inner = Int32(addDocument(table: table, shape, place, rules))
    default: break
    }
    nodes.append(node)
    if node.form == .any { nodes[nodes.count - 1].inner = Int32(nodes.count - 1) }
    return nodes.count - 1
  }

  /// Numbers that a float does not hold are refused there; see to it that others do so.
  private func isFloat(_ place: FieldPlace?) -> Bool { place?.kind == .float }

  /// Whether the catalogue knows more of what is inside than that it is of any kind.
  private func hasPlaces(_ place: FieldPlace?) -> Bool {
    guard let place, place.kind != .any else { return false }
    return place.isDocument || place.anyElement != nil || place.anyMember("") != nil
  }

  /// What must not change in the elements or values; nil where that is not known.
  private func inside(_ sight: Sight) -> Sight? {
    switch sight {
    case .nothing: return .nothing
    case .declared(let values):
      switch values.content {
      case .nothing: return .nothing
      case .array(let element): return .declared(element)
      case .dictionary(_, let value, _): return .declared(value)
      default: return nil
      }
    case .inferred(let values, let stored, let rules, let nesting):
      guard nesting < InferredShape.maximumNesting else { return nil }
      switch values.content {
      case .array(let element):
        return .inferred(
          element, stored: stored?.element?.unwrapped, rules: rules, nesting: nesting + 1)
      case .dictionary(_, let value, _):
        return .inferred(
          value, stored: stored?.dictionaryValue?.unwrapped, rules: nil, nesting: nesting + 1)
      default: return nil
      }
    }
  }

  /// The shape of documents in a place, nil inside where there is none to keep; nil where it is not
  /// known.
  private func shape(of sight: Sight) -> InferredShape?? {
    switch sight {
    case .nothing: return .some(nil)
    case .declared(let values), .inferred(let values, _, _, _):
      guard case .document(let shape) = values.content else { return nil }
      return shape
    }
  }

  // MARK: Tokens

  /// What may stand in a place of a kind without a change to what was seen there.
  private func tokens(_ kind: Kind<Int>, _ sight: Sight) -> Tokens {
    switch sight {
    case .nothing: return .everything
    case .declared(let values):
      guard kind.holdsDocuments else { return .everything }
      switch values.content {
      case .array: return [.array, .null]
      case .dictionary, .document: return [.object, .null]
      default: return .null
      }
    case .inferred(let values, let stored, let rules, _):
      return values.tokens(stored, rules?.kind)
    }
  }
}

extension SeenValues {
  /// What may be added without a change.
  fileprivate func tokens(_ stored: Kind<Int>?, _ rule: Kind<Int>?) -> RecordPlan.Tokens {
    var tokens: RecordPlan.Tokens = allowsNil ? .null : []
    switch content {
    case .any: return .everything
    case .nothing: break
    case _ where rule == .any || stored == .any: break
    case .scalar(let kind):
      if rule == kind || kind.isText && rule == nil && stored == kind {
        // Whatever can be coerced.
        tokens.formUnion([.bool, .numbers, .string])
      } else if rule == nil, kind == .bool {
        tokens.insert(.bool)
      } else if rule == nil, kind == .string, stored?.isText != true {
        tokens.insert(.string)
      }
      if kind == .uuid { tokens.insert(.uuid) }
      if kind.isText, rule == nil || rule == kind { tokens.insert(.own) }
    case .numbers(let numbers):
      if rule == nil { tokens.formUnion(numbers.tokens) }
    case .array: tokens.insert(.array)
    case .dictionary(let key, _, _):
      let hasTextKeys = stored?.dictionaryKey.map { $0 == .string || $0 == .null } ?? true
      if hasTextKeys, case .scalar(.string) = key.content { tokens.insert(.object) }
    case .document(let shape):
      // Behind so many names each document may be the one that makes a dictionary of them.
      if !shape.mayBecomeDictionary || stored?.table != nil { tokens.insert(.object) }
    }
    return tokens
  }
}

extension SeenNumbers {
  /// What may be added without a change.
  fileprivate var tokens: RecordPlan.Tokens {
    var tokens: RecordPlan.Tokens = []
    if hasSigned { tokens.insert(.positive) }
    if hasSigned && hasNegative { tokens.insert(.negative) }
    if hasInexact { tokens.insert(.inexact) }
    if hasUnsigned { tokens.insert(.unsigned) }
    if hasDouble { tokens.insert(.double) }
    if hasDouble && hasSigned { tokens.insert(.minusZero) }
    return tokens
  }
}

extension Kind {
  /// Whether text may stand for a value of this kind.
  fileprivate var readsText: Bool { isText || self == .double || self == .float }
}

extension InferredShape {
  /// Adds objects that a plan has met, without anything new in them.
  ///
  /// - Parameter counts: By the numbers of the plan's documents.
  mutating func add(
    _ counts: [RecordPlan.Count], of plan: borrowing RecordPlan, document: Int = 0
  ) {
    guard document < counts.count else { return }
    addCounts(objects: counts[document].objects, members: counts[document].members)
    for (name, node) in plan.documents[document].children {
      change(of: name) { $0.add(counts, of: plan, node: node) }
    }
  }
}

extension SeenValues {
  // Inlined, the places inside of one another became 50 kB of code.
  @inline(never)
  fileprivate mutating func add(
    _ counts: [RecordPlan.Count], of plan: borrowing RecordPlan, node number: Int
  ) {
    let node = plan.nodes[number]
    let inner = Int(node.inner)
    switch node.form {
    case .array, .dictionary: changeInside { $0.add(counts, of: plan, node: inner) }
    case .document: changeDocuments { $0.add(counts, of: plan, document: inner) }
    default: break
    }
  }
}
