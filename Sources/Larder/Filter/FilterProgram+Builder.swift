extension FilterProgram {
  struct Builder {
    /// Of the documents; nil for elements.
    let fields: FieldTable?
    /// Back to front.
    var steps: [Step] = []
    var questions: [Question] = []
    var texts: [UInt8] = []

    init(fields: FieldTable?) { self.fields = fields }

    /// Adds a condition; returns where it starts.
    mutating func add(_ node: FilterNode, ifTrue: Int32, ifFalse: Int32) -> Int32 {
      switch node {
      case .constant(let value): return value ? ifTrue : ifFalse
      case .not(let part): return add(part, ifTrue: ifFalse, ifFalse: ifTrue)
      case .conjunction(let parts):
        var next = ifTrue
        for part in parts.reversed() { next = add(part, ifTrue: next, ifFalse: ifFalse) }
        return next
      case .disjunction(let parts):
        if let list = FilterNode.elementList(parts) {
          return add(list, ifTrue: ifTrue, ifFalse: ifFalse)
        }
        var next = ifFalse
        for part in parts.reversed() { next = add(part, ifTrue: ifTrue, ifFalse: next) }
        return next
      case .test(let operand, let comparison):
        let place = Place(operand, in: fields)
        var elements: FilterProgram?
        if case .containsMatch(let node) = comparison { elements = FilterProgram(node, in: nil) }
        var step = Step(ifTrue: ifTrue, ifFalse: ifFalse)
        if case .field(let path) = operand {
          choose(comparison, path[path.count - 1].kind, &step)
          if path.count == 1, step.test != .ask {
            step.slot = Int32(truncatingIfNeeded: place.slot)
            step.ifAbsent = path[0].absent.map { Answer(comparison.holds(for: $0)) } ?? .ask
          }
        }
        return add(
          step,
          .test(place, comparison, elements: elements, listed: ValueSet(comparison)))
      case .relation(let left, let relation, let right):
        return add(
          Step(ifTrue: ifTrue, ifFalse: ifFalse),
          .relation(Place(left, in: fields), relation, Place(right, in: fields)))
      case .search(let condition):
        return add(
          Step(ifTrue: ifTrue, ifFalse: ifFalse), .search(SearchTest(condition, in: fields)))
      case .behind, .key: return ifTrue  // Needs the key; asked beside the program.
      case .tooDeep: return ifFalse  // Refused before it comes here.
      }
    }

    private mutating func add(_ step: Step, _ question: Question) -> Int32 {
      steps.append(step)
      questions.append(question)
      return Int32(steps.count) - 1
    }

    /// Picks the test that bytes can answer, if there is one.
    private mutating func choose(
      _ comparison: Comparison, _ kind: Kind<SchemaReference>, _ step: inout Step
    ) {
      if case .compare(.equal, .null) = comparison {
        step.test = .isNil
        step.ifNil = .yes
        return
      }
      // The levels of nested optionals are marked in the record.
      guard let scalar = IndexScalar(kind) ?? elementOfArray(kind, comparison) else { return }
      step.ifNil = kind.isOptional ? Answer(comparison.holds(for: .null)) : .ask
      switch comparison {
      case .compare(.equal, .string(let text)) where scalar == .string:
        add([text], .textEqual, &step)
      case .compare(let relation, .string(let text)) where scalar == .string:
        guard let range = ScalarRange(relation, 0, 0, in: .min ... .max) else { return }
        step.range = range
        add([text], .textOrder, &step)
      case .compare(let relation, let value):
        guard let range = ScalarRange(relation, value, as: scalar), let test = ByteTest(scalar)
        else { return }
        step.range = range
        step.test = test
      case .isAny(let values) where scalar == .string && values.count <= ValueSet.largestTextCount:
        let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        if texts.count == values.count { add(texts, .textEqual, &step) }
      case .hasPrefix(let text) where scalar == .string: add(part: text, .textPrefix, &step)
      case .hasSuffix(let text) where scalar == .string: add(part: text, .textSuffix, &step)
      case .containsText(let text) where scalar == .string && !text.isEmpty:
        add(part: text, .textContains, &step)
      case .containsElement(.string(let text)): add([text], .element, &step)
      default: break
      }
    }

    private func elementOfArray(
      _ kind: Kind<SchemaReference>, _ comparison: Comparison
    ) -> IndexScalar? {
      guard case .containsElement(.string) = comparison else { return nil }
      switch kind {
      case .array(.string), .set(.string), .optional(.array(.string)), .optional(.set(.string)):
        return .string
      default: return nil
      }
    }

    private mutating func add(_ texts: [String], _ test: ByteTest, _ step: inout Step) {
      let texts = texts.map { Array($0.normalized().utf8) }
      step.test = test
      step.letters =
        texts.map { $0.withUnsafeBytes { FilterProgram.Letters($0) } }
        .max { $0.rawValue < $1.rawValue } ?? .ascii
      step.textStart = Int32(truncatingIfNeeded: self.texts.count)
      step.textCount = Int32(truncatingIfNeeded: texts.count)
      for text in texts {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: text.count)) {
          self.texts.append(contentsOf: $0)
        }
        self.texts.append(contentsOf: text)
      }
    }

    /// A part that is looked for in texts by its bytes; one that bytes cannot tell is asked for.
    private mutating func add(part: String, _ test: ByteTest, _ step: inout Step) {
      let bytes = Array(part.normalized().utf8)
      let isPlain = bytes.withUnsafeBytes { $0.isComposed && !$0.hasBreak }
      guard isPlain else { return }
      add([part], test, &step)
      step.anchor = Int32(truncatingIfNeeded: TextMatch.anchor(of: bytes))
    }
  }
}

extension FilterProgram.Letters {
  init(_ text: UnsafeRawBufferPointer) {
    self =
      Bytes.areASCII(text)
      ? .ascii : text.isComposedLatin ? .latin : text.isComposed ? .composed : .any
  }
}
