/// The values that were seen in one place, as far as they say which kind holds them all.
struct SeenValues: Sendable {
  private(set) var content = Content.nothing
  private(set) var allowsNil = false

  indirect enum Content: Sendable {
    case nothing
    case any
    case scalar(Kind<Int>)
    case numbers(SeenNumbers)
    case array(SeenValues)
    /// `isFound`: it was made of objects whose names kept coming, so its values may be of two kinds.
    case dictionary(key: SeenValues, value: SeenValues, isFound: Bool)
    case document(InferredShape)
  }

  /// A place where values stand, with what is known of it before they are seen.
  struct Place {
    let inference: Inference
    /// The kind that was inferred there for documents before.
    let stored: Kind<Int>?
    let rules: KindRules?
    /// Whether the place takes any kind where two would meet.
    let isMixed: Bool
    /// Arrays and dictionaries around it.
    let nesting: Int

    init(
      _ inference: Inference, stored: Kind<Int>?, rules: KindRules?, isMixed: Bool,
      nesting: Int = 0
    ) {
      self.inference = inference
      self.stored = stored?.unwrapped
      self.rules = rules
      self.isMixed = isMixed
      self.nesting = nesting
    }

    fileprivate func inside(
      _ stored: Kind<Int>?, _ rules: KindRules?, isMixed: Bool? = nil
    ) -> Place {
      Place(
        inference, stored: stored, rules: rules, isMixed: isMixed ?? self.isMixed,
        nesting: nesting + 1)
    }
  }

  typealias Conflict = InferredShape.Conflict

  /// The kind that holds all of them.
  var kind: Kind<InferredShape> {
    let kind = content.kind
    return allowsNil && kind != .any ? .optional(kind) : kind
  }

  /// Takes a value in.
  ///
  /// - Throws: ``InferredShape/Conflict`` for one that no kind holds together with those before.
  mutating func add(_ value: Value, _ place: Place) throws(Conflict) {
    do {
      try addStrictly(value, place)
    } catch {
      guard place.isMixed, !error.isFinal else { throw error }
      content = .any
    }
  }

  private mutating func addStrictly(_ value: Value, _ place: Place) throws(Conflict) {
    guard place.nesting <= InferredShape.maximumNesting else {
      throw Conflict(
        found: "more", seen: "arrays nested in at most \(InferredShape.maximumNesting) levels",
        isFinal: true)
    }
    if case .null = value {
      allowsNil = true
      return
    }
    if case .any = content { return }
    if place.rules?.kind == .any || place.stored == .any {
      content = .any
      return
    }
    if place.isMixed, let stored = place.stored, !stored.mayHold(value) {
      throw conflict(value)
    }
    switch value {
    case .array(let values): try add(values, place)
    case .dictionary(let pairs): try add(pairs, place)
    case .document(let document): try add(document, place)
    default: try add(scalar: value, place)
    }
  }

  private func conflict(_ value: Value) -> Conflict {
    Conflict(
      found: value.scalarKind.map { "\($0)" } ?? value.shortDescription, seen: "\(content.kind)")
  }
}

extension SeenValues {
  /// Whether there are numbers below zero among the values.
  var hasNegative: Bool {
    if case .numbers(let numbers) = content { numbers.hasNegative } else { false }
  }

  /// Whether a field down these names was seen inside of the values.
  func hasSeen(_ names: ArraySlice<String>) -> Bool {
    if names.isEmpty { return true }
    return switch content {
    case .any: true
    case .array(let element): element.hasSeen(names)
    case .dictionary(_, let value, _): value.hasSeen(names.dropFirst())
    case .document(let shape): shape.hasSeen(names)
    case .nothing, .scalar, .numbers: false
    }
  }
}

// MARK: Containers

extension SeenValues {
  private mutating func add(_ values: [Value], _ place: Place) throws(Conflict) {
    var element = SeenValues()
    switch content {
    case .nothing: break
    case .array(let seen): element = seen
    default: throw conflict(.array(values))
    }
    // Given up while it changes, so that what was seen is not copied for each value.
    content = .nothing
    defer { content = .array(element) }
    let inside = place.inside(place.stored?.element, place.rules)
    for (index, value) in values.enumerated() {
      try Self.at("\(index)") { () throws(Conflict) in try element.add(value, inside) }
    }
  }

  private mutating func add(_ pairs: [Value: Value], _ place: Place) throws(Conflict) {
    try add(
      pairs.map { (step: $0.key.description, key: $0.key, value: $0.value) },
      of: .dictionary(pairs), place)
  }

  private mutating func add(_ document: DynamicDocument, _ place: Place) throws(Conflict) {
    guard isDictionary(place) else { return try add(fieldsOf: document, place) }
    // A dictionary that is stored under other keys than text keeps them.
    let hasTextKeys = place.stored?.dictionaryKey.map { $0 == .string || $0 == .null } ?? true
    if !hasTextKeys, place.isMixed, let kind = place.stored?.dictionaryKey,
      document.fields.contains(where: {
        Value.string($0.name).asKey(of: kind).coerced(to: kind.unwrapped) == nil
      })
    {
      // None of its keys.
      throw conflict(.document(document))
    }
    try add(
      document.fields.map {
        (step: $0.name, key: hasTextKeys ? .string($0.name) : nil, value: $0.value)
      }, of: .document(document), place)
  }

  private func isDictionary(_ place: Place) -> Bool {
    if case .dictionary = content { return true }
    return place.rules?.kind?.isDictionary == true || place.stored?.isDictionary == true
  }

  private mutating func add(
    _ members: [(step: String, key: Value?, value: Value)], of whole: Value, _ place: Place
  ) throws(Conflict) {
    var (key, value, isFound) = (SeenValues(), SeenValues(), false)
    switch content {
    case .nothing: break
    case .dictionary(let seenKey, let seenValue, let found):
      (key, value, isFound) = (seenKey, seenValue, found)
    default: throw conflict(whole)
    }
    content = .nothing
    defer { content = .dictionary(key: key, value: value, isFound: isFound) }
    let inside = place.inside(
      place.stored?.dictionaryValue, nil, isMixed: place.isMixed || isFound)
    let asKey = place.inside(nil, nil, isMixed: false)
    for member in members {
      try Self.at(member.step) { () throws(Conflict) in
        if let name = member.key { try key.add(name, asKey) }
        try value.add(member.value, inside)
      }
    }
  }

  private mutating func add(
    fieldsOf document: DynamicDocument, _ place: Place
  ) throws(Conflict) {
    var shape: InferredShape
    switch content {
    case .nothing:
      shape = InferredShape(place.inference, table: place.stored?.table, place.rules)
    case .document(let seen): shape = seen
    default: throw conflict(.document(document))
    }
    content = .nothing
    do {
      try shape.add(document, isMixed: place.isMixed)
    } catch {
      content = .document(shape)
      throw error
    }
    guard place.inference.policy.findsDictionaries, place.stored?.table == nil,
      shape.isDictionary
    else {
      content = .document(shape)
      return
    }
    content = .dictionary(key: .text, value: shape.valuesOfAllFields, isFound: true)
  }

  /// The keys of a dictionary whose keys are text.
  private static var text: SeenValues {
    var key = SeenValues()
    key.content = .scalar(.string)
    return key
  }

  private static func at(
    _ step: String, _ body: () throws(Conflict) -> Void
  ) throws(Conflict) {
    do {
      try body()
    } catch {
      var conflict = error
      conflict.steps.insert(step, at: 0)
      throw conflict
    }
  }
}

// MARK: Fields that a type declared

extension SeenValues {
  /// Takes in only the fields that are new inside declared documents; whether the values fit is for
  /// those to say who write them.
  mutating func add(_ value: Value, declared: Kind<Int>, _ place: Place) throws(Conflict) {
    guard place.nesting <= InferredShape.maximumNesting else { return }
    switch (declared.unwrapped, value) {
    case (.array(let declared), .array(let values)), (.set(let declared), .array(let values)):
      guard declared.holdsDocuments else { return }
      var element = SeenValues()
      if case .array(let seen) = content { element = seen }
      content = .nothing
      defer { content = .array(element) }
      for (index, value) in values.enumerated() {
        try Self.at("\(index)") { () throws(Conflict) in
          try element.add(value, declared: declared, place.inside(nil, nil))
        }
      }
    case (.document(let table), .document(let document)):
      var shape = InferredShape(place.inference, table: table, nil)
      if case .document(let seen) = content { shape = seen }
      content = .nothing
      defer { content = .document(shape) }
      try shape.add(document, isMixed: place.isMixed)
    case (.dictionary(_, let declared), .document(let document)):
      try add(
        document.fields.map { (step: $0.name, value: $0.value) }, declared: declared, place)
    case (.dictionary(_, let declared), .dictionary(let pairs)):
      try add(
        pairs.map { (step: $0.key.description, value: $0.value) }, declared: declared, place)
    default: break
    }
  }

  private mutating func add(
    _ members: [(step: String, value: Value)], declared: Kind<Int>, _ place: Place
  ) throws(Conflict) {
    guard declared.holdsDocuments else { return }
    var value = SeenValues()
    if case .dictionary(_, let seen, _) = content { value = seen }
    content = .nothing
    defer { content = .dictionary(key: SeenValues(), value: value, isFound: false) }
    for member in members {
      try Self.at(member.step) { () throws(Conflict) in
        try value.add(member.value, declared: declared, place.inside(nil, nil))
      }
    }
  }
}

// MARK: Scalars

extension SeenValues {
  private mutating func add(scalar value: Value, _ place: Place) throws(Conflict) {
    if let rule = place.rules?.kind {
      // The collection may hold a kind that does not go with the one that was given.
      if place.isMixed, let stored = place.stored, stored != .null, stored != rule,
        Kind<Int>.widened(stored, rule) == nil
      {
        throw conflict(value)
      }
      return try add(scalar: value, ruledBy: rule)
    }
    if place.inference.policy.isExact, let stored = place.stored, stored.isText,
      value.coerced(to: stored) != nil, hasOnly(stored)
    {
      content = .scalar(stored)
      return
    }
    guard let kind = value.scalarKind else { throw conflict(value) }
    guard !kind.isNumber else { return try add(number: value, place) }
    guard hasOnly(kind) else { throw conflict(value) }
    content = .scalar(kind)
  }

  private mutating func add(scalar value: Value, ruledBy rule: Kind<Int>) throws(Conflict) {
    guard value.coerced(to: rule) != nil, hasOnly(rule) else {
      throw Conflict(
        found: value.shortDescription, seen: "\(rule.expectation), the kind that it was given",
        isFinal: true)
    }
    content = .scalar(rule)
  }

  private mutating func add(number value: Value, _ place: Place) throws(Conflict) {
    var numbers: SeenNumbers
    switch content {
    case .nothing: numbers = SeenNumbers(stored: place.stored)
    case .numbers(let seen): numbers = seen
    default: throw conflict(value)
    }
    guard numbers.add(value, place.inference.policy) else {
      throw Conflict(found: value.shortDescription, seen: "\(numbers.expectation)")
    }
    content = .numbers(numbers)
  }

  private func hasOnly(_ kind: Kind<Int>) -> Bool {
    switch content {
    case .nothing: true
    case .scalar(let seen): seen == kind
    default: false
    }
  }
}

// MARK: What others add

extension SeenValues {
  /// Changes what was seen of elements, or of the values of a dictionary.
  mutating func changeInside(_ change: (inout SeenValues) -> Void) {
    switch content {
    case .array(var element):
      content = .nothing
      change(&element)
      content = .array(element)
    case .dictionary(let key, var value, let isFound):
      content = .nothing
      change(&value)
      content = .dictionary(key: key, value: value, isFound: isFound)
    default: break
    }
  }

  /// Changes what was seen of documents.
  mutating func changeDocuments(_ change: (inout InferredShape) -> Void) {
    guard case .document(var shape) = content else { return }
    content = .nothing
    change(&shape)
    content = .document(shape)
  }
}

// MARK: Two places that become one

extension SeenValues {
  /// Takes in what was seen in another place; any kind where no other holds both.
  mutating func join(_ other: SeenValues) {
    allowsNil = allowsNil || other.allowsNil
    let own = content
    content = .nothing
    content = Self.joined(own, other.content)
  }

  private static func joined(_ first: Content, _ second: Content) -> Content {
    switch (first, second) {
    case (.nothing, let kind), (let kind, .nothing): return kind
    case (.scalar(let kind), .scalar(let other)) where kind == other: return first
    case (.numbers(let numbers), .numbers(let others)):
      return numbers.joined(with: others).map(Content.numbers) ?? .any
    case (.array(var element), .array(let other)):
      element.join(other)
      return .array(element)
    case (.dictionary(var key, var value, _), .dictionary(let otherKey, let otherValue, _)):
      key.join(otherKey)
      // Keys are of one kind.
      if case .any = key.content { return .any }
      value.join(otherValue)
      return .dictionary(key: key, value: value, isFound: true)
    case (.dictionary(var key, var value, _), .document(let shape)),
      (.document(let shape), .dictionary(var key, var value, _)):
      // The names would be keys.
      if !shape.isEmpty { key.join(.text) }
      if case .any = key.content { return .any }
      value.join(shape.valuesOfAllFields)
      return .dictionary(key: key, value: value, isFound: true)
    case (.document(var shape), .document(let other)):
      shape.join(other)
      return .document(shape)
    default: return .any
    }
  }
}

// MARK: Kinds

extension SeenValues.Content {
  fileprivate var kind: Kind<InferredShape> {
    switch self {
    case .nothing: .null
    case .any: .any
    case .scalar(let kind): kind.mapReferences { _ in InferredShape() }
    case .numbers(let numbers): numbers.kind.mapReferences { _ in InferredShape() }
    case .array(let element): .array(element.kind)
    case .dictionary(let key, let value, _): .dictionary(key.kind, value.kind)
    case .document(let shape): .document(shape)
    }
  }
}

extension Kind {
  var element: Kind? {
    switch self {
    case .array(let element), .set(let element): element
    default: nil
    }
  }

  fileprivate var isDictionary: Bool { if case .dictionary = self { true } else { false } }

  var dictionaryKey: Kind? {
    if case .dictionary(let key, _) = self { key } else { nil }
  }

  var dictionaryValue: Kind? {
    if case .dictionary(_, let value) = self { value } else { nil }
  }

  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .float, .double: true
    default: false
    }
  }

  /// Whether files have its values as text.
  var isText: Bool {
    switch self {
    case .date, .uuid, .url, .data, .decimal: true
    default: false
    }
  }
}

extension Kind where Reference == Int {
  var table: Int? { if case .document(let table) = self { table } else { nil } }

  /// Whether a field of this kind, or of a wider one, may hold a value, as far as its outermost level
  /// says.
  fileprivate func mayHold(_ value: Value) -> Bool {
    switch (self, value) {
    case (.null, _), (.any, _), (.array, .array), (.set, .array), (.dictionary, .dictionary),
      (.dictionary, .document), (.document, .document):
      true
    case (_, .integer), (_, .unsigned), (_, .double):
      isNumber || value.coerced(to: self) != nil
    default: value.scalarKind == self || value.coerced(to: self) != nil
    }
  }
}

extension Value {
  fileprivate var scalarKind: Kind<Int>? {
    switch self {
    case .bool: .bool
    case .integer: .integer(.int64)
    case .unsigned: .integer(.uint64)
    case .double: .double
    case .string: .string
    case .data: .data
    case .date: .date
    case .uuid: .uuid
    case .url: .url
    case .decimal: .decimal
    case .null, .array, .dictionary, .document: nil
    }
  }
}
