#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension FilterProgram {
  struct Builder {
    let table: FieldTable
    /// Back to front.
    var steps: [Step] = []
    var tests: [FilterNode] = []
    var texts: [UInt8] = []

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
        var next = ifFalse
        for part in parts.reversed() { next = add(part, ifTrue: ifTrue, ifFalse: next) }
        return next
      case .test(let operand, let comparison):
        var step = Step(
          test: .ask, slot: -1, ifTrue: ifTrue, ifFalse: ifFalse, ifAbsent: .ask, ifNil: .ask)
        if case .field(let path) = operand, path.count == 1 {
          step.slot = Int32(truncatingIfNeeded: table.slot(of: path[0].name) ?? -1)
          step.ifAbsent =
            path[0].absent.map { Answer(Evaluation.Test(comparison).holds(for: $0)) } ?? .ask
          choose(comparison, path[0].kind, &step)
        }
        steps.append(step)
        tests.append(node)
        return Int32(steps.count) - 1
      case .relation:
        steps.append(
          Step(
            test: .ask, slot: -1, ifTrue: ifTrue, ifFalse: ifFalse, ifAbsent: .ask, ifNil: .ask))
        tests.append(node)
        return Int32(steps.count) - 1
      case .behind: return ifTrue  // Needs the key; asked beside the program.
      case .tooDeep: return ifFalse  // Refused before it comes here.
      }
    }

    /// Picks the test that bytes can answer, if there is one.
    private mutating func choose(
      _ comparison: Comparison, _ kind: Kind<SchemaReference>, _ step: inout Step
    ) {
      if case .equal(.null) = comparison {
        step.test = .isNil
        step.ifNil = .yes
        return
      }
      // The levels of nested optionals are marked in the record.
      guard let scalar = IndexScalar(kind) ?? elementOfArray(kind, comparison) else { return }
      step.ifNil = kind.isOptional ? Answer(Evaluation.Test(comparison).holds(for: .null)) : .ask
      switch (scalar, comparison) {
      case (.bool, .equal(.bool(let value))):
        step.number = value ? 1 : 0
        step.test = .boolEqual
      case (.integer, .equal(.integer(let value))): integer(value, .integerEqual, &step)
      case (.integer, .less(.integer(let value))): integer(value, .integerLess, &step)
      case (.integer, .lessOrEqual(.integer(let value))): integer(value, .integerAtMost, &step)
      case (.integer, .greater(.integer(let value))): integer(value, .integerMore, &step)
      case (.integer, .greaterOrEqual(.integer(let value))): integer(value, .integerAtLeast, &step)
      case (.double, _): double(comparison, &step)
      case (.date, _): date(comparison, &step)
      case (.string, _): text(comparison, &step)
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

    private func integer(_ value: Int64, _ test: Test, _ step: inout Step) {
      step.number = UInt64(bitPattern: value)
      step.test = test
    }

    private func double(_ comparison: Comparison, _ step: inout Step) {
      switch comparison {
      case .equal(.double(let value)): number(value, .doubleEqual, &step)
      case .less(.double(let value)): number(value, .doubleLess, &step)
      case .lessOrEqual(.double(let value)): number(value, .doubleAtMost, &step)
      case .greater(.double(let value)): number(value, .doubleMore, &step)
      case .greaterOrEqual(.double(let value)): number(value, .doubleAtLeast, &step)
      default: break
      }
    }

    private func date(_ comparison: Comparison, _ step: inout Step) {
      switch comparison {
      case .equal(.date(let value)):
        number(value.timeIntervalSinceReferenceDate, .dateEqual, &step)
      case .less(.date(let value)):
        number(value.timeIntervalSinceReferenceDate, .dateLess, &step)
      case .lessOrEqual(.date(let value)):
        number(value.timeIntervalSinceReferenceDate, .dateAtMost, &step)
      case .greater(.date(let value)):
        number(value.timeIntervalSinceReferenceDate, .dateMore, &step)
      case .greaterOrEqual(.date(let value)):
        number(value.timeIntervalSinceReferenceDate, .dateAtLeast, &step)
      default: break
      }
    }

    private func number(_ value: Double, _ test: Test, _ step: inout Step) {
      step.number = value.bitPattern
      step.test = test
    }

    private mutating func text(_ comparison: Comparison, _ step: inout Step) {
      switch comparison {
      case .equal(.string(let text)): add([text], .textEqual, &step)
      case .isAny(let values):
        let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
        if texts.count == values.count { add(texts, .textEqual, &step) }
      case .less(.string(let text)): add([text], .textLess, &step)
      case .lessOrEqual(.string(let text)): add([text], .textAtMost, &step)
      case .greater(.string(let text)): add([text], .textMore, &step)
      case .greaterOrEqual(.string(let text)): add([text], .textAtLeast, &step)
      case .hasPrefix(let text) where text.utf8.allSatisfy { $0 != 0x0A && $0 != 0x0D }:
        add([text], .textPrefix, &step)
      case .hasSuffix(let text) where text.utf8.allSatisfy { $0 != 0x0A && $0 != 0x0D }:
        add([text], .textSuffix, &step)
      case .containsElement(.string(let text)): add([text], .hasText, &step)
      default: break
      }
    }

    /// Only for texts that are ASCII: others have equals of other bytes.
    private mutating func add(_ texts: [String], _ test: Test, _ step: inout Step) {
      guard texts.allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } }) else { return }
      step.test = test
      step.textStart = Int32(truncatingIfNeeded: self.texts.count)
      step.textCount = Int32(truncatingIfNeeded: texts.count)
      for text in texts {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: text.utf8.count)) {
          self.texts.append(contentsOf: $0)
        }
        self.texts.append(contentsOf: text.utf8)
      }
    }
  }
}
