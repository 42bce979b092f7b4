import Foundation
import Larder
import LarderTestKit
import Testing

@testable import LarderRemote

/// What becomes of two versions of one document.
@Suite("merging") struct ThreeWayMergeTests {
  private func merge(
    _ before: Value?, _ here: Value?, _ there: Value?, _ rule: MergeRule,
    beganWithNothing: Bool = false, isKnown: Bool = true
  ) throws -> Value? {
    func document(_ value: Value?) -> DynamicDocument { value.map { ["f": $0] } ?? [:] }
    return try ThreeWayMerge(rules: ["f": rule], beganWithNothing: beganWithNothing)
      .merge(
        isKnown && !beganWithNothing ? document(before) : nil, here: document(here),
        there: document(there))["f"]
  }

  @Test("a field that one side has changed keeps that change, whatever the rule")
  func oneSide() throws {
    let rules: [MergeRule] = [.lastWriter, .counter, .max, .custom { _, _, _ in 99 }]
    for rule in rules {
      #expect(try merge(5, 3, 5, rule) == 3)
      #expect(try merge(5, 5, 3, rule) == 3)
    }
  }

  @Test("the last writer is the one here, whose edit reaches the remote later")
  func lastWriter() throws {
    #expect(try merge(1, 2, 3, .lastWriter) == 2)
    #expect(try merge(1, nil, 3, .lastWriter) == nil)
    #expect(try merge(1, 2, nil, .lastWriter) == 2)
    #expect(try merge(nil, nil, 3, .lastWriter) == 3)
    #expect(try merge(nil, nil, 3, .lastWriter, beganWithNothing: true) == 3)
  }

  @Test("counters add up, of every kind of number, and from nothing as from zero")
  func counters() throws {
    #expect(try merge(10, 12, 7, .counter) == 9)
    #expect(try merge(nil, 2, 3, .counter) == 5)
    #expect(try merge(nil, 2, 3, .counter, beganWithNothing: true) == 5)
    #expect(try merge(1.5, 2.5, 4.0, .counter) == 5.0)
    #expect(try merge(1, 2.5, 4, .counter) == 5.5)
    let decimal = Value.decimal
    #expect(try merge(decimal(1), decimal(3), decimal(4), .counter) == decimal(6))
    #expect(try merge(nil, decimal(3), decimal(4), .counter) == decimal(7))
    #expect(try merge(5, nil, 8, .counter) == 3)
    #expect(try merge("x", 1, 2, .counter) == 1)
    #expect(try merge(nil, 4, 6, .counter, isKnown: false) == 4)
  }

  @Test("counters of 64 bits lose no digit, and one that would overflow keeps the larger side")
  func largeCounters() throws {
    let large = Value.unsigned(UInt64.max - 5)
    #expect(
      try merge(large, .unsigned(UInt64.max - 3), .unsigned(UInt64.max - 4), .counter)
        == .unsigned(UInt64.max - 2))
    #expect(try merge(.integer(.max), large, .integer(.max), .counter) == large)
    #expect(try merge(0, .integer(.max), 1, .counter) == .integer(.max))
    #expect(try merge(0, .integer(.min), .integer(-1), .counter) == .integer(-1))
    #expect(try merge(large, 5, 7, .counter) == 7)
  }

  @Test("a set has what either has added, and lacks what either has removed")
  func sets() throws {
    #expect(try merge(["a", "b"], ["a", "c"], ["b", "a", "d"], .set) == ["a", "d", "c"])
    #expect(try merge(nil, ["a"], ["b", "a"], .set) == ["b", "a"])
    #expect(try merge(["a"], nil, ["a", "b"], .set) == ["b"])
    #expect(try merge(["a"], "none", ["b"], .set) == "none")
  }

  @Test("the larger of two values stands, where they can be compared")
  func largest() throws {
    #expect(try merge(1, 5, 7, .max) == 7)
    #expect(try merge(1, 7, 5, .max) == 7)
    #expect(try merge(1, .unsigned(.max), .integer(.max), .max) == .unsigned(.max))
    #expect(try merge("a", "b", "c", .max) == "c")
    #expect(try merge(1, nil, 5, .max) == 5)
    #expect(try merge(1, "text", 5, .max) == "text")
  }

  @Test("a closure decides with all three values")
  func custom() throws {
    let rule = MergeRule.custom { before, here, there in
      .array([before, here, there].map { $0 ?? .null })
    }
    #expect(try merge(1, 2, 3, rule) == [1, 2, 3])
    #expect(try merge(nil, 2, 3, rule) == [.null, 2, 3])
  }

  @Test("embedded documents are merged field by field, also where both sides have added one")
  func nested() throws {
    let merge = ThreeWayMerge(rules: ["spot.count": .counter], beganWithNothing: false)
    func spot(_ fields: DynamicDocument) -> DynamicDocument { ["spot": .document(fields)] }

    #expect(
      try merge.merge(
        spot(["x": 1, "y": 1, "count": 1]), here: spot(["x": 2, "y": 1, "count": 3]),
        there: spot(["x": 1, "y": 5, "count": 2]))
        == spot(["x": 2, "y": 5, "count": 4]))
    #expect(
      try merge.merge([:], here: spot(["x": 2, "count": 1]), there: spot(["y": 5, "count": 2]))[
        "spot"]
        == .document(["y": 5, "count": 3, "x": 2]))
    #expect(
      try merge.merge(nil, here: spot(["x": 2, "count": 1]), there: spot(["count": 2]))["spot"]
        == .document(["count": 1, "x": 2]))
  }

  @Test("merging is repeatable, and with a side that has changed nothing it gives the other one")
  func properties() throws {
    var random = RandomSource()
    let rules: MergeRules = ["a": .counter, "b": .set, "c": .max, "d.a": .counter]
    for _ in 0..<repetitions(2000) {
      let (before, here, there) = (
        document(&random, depth: 0), document(&random, depth: 0), document(&random, depth: 0)
      )
      let merge = ThreeWayMerge(rules: rules, beganWithNothing: false)

      #expect(
        try merge.merge(before, here: here, there: there)
          == (try merge.merge(before, here: here, there: there)), "LARDER_SEED=\(random.seed)")
      for side in [here, there] {
        #expect(
          try fields(merge.merge(before, here: side, there: before)) == fields(side),
          "LARDER_SEED=\(random.seed)")
        #expect(
          try fields(merge.merge(before, here: before, there: side)) == fields(side),
          "LARDER_SEED=\(random.seed)")
      }
    }
  }

  /// The fields in the order of their names, at all depths.
  private func fields(_ document: DynamicDocument) -> DynamicDocument {
    DynamicDocument(
      document.fields.sorted { $0.name < $1.name }.map { field in
        guard case .document(let inner) = field.value else { return field }
        return DynamicDocument.Field(field.name, .document(fields(inner)))
      })
  }

  private func document(_ random: inout RandomSource, depth: Int) -> DynamicDocument {
    var document: DynamicDocument = [:]
    for name in ["a", "b", "c", "d", "e"] where random.int(0..<4) > 0 {
      switch name {
      case "a", "c": document[name] = .integer(Int64(random.int(-3..<4)))
      case "b":
        let values = Set((0..<random.int(0..<4)).map { _ in random.int(0..<5) })
        document[name] = .array(values.sorted().map { .integer(Int64($0)) })
      case "d" where depth < 2: document[name] = .document(self.document(&random, depth: depth + 1))
      default: document[name] = .string("\(random.int(0..<3))")
      }
    }
    return document
  }
}
