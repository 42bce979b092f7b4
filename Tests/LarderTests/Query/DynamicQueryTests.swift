import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

@Document struct WholeNumber: Equatable {
  var id: Int
  var wide: Int64
  var narrow: UInt8
}

@Suite("Queries without a type")
struct DynamicQueryTests {
  /// The same condition for a type and without one.
  private struct Pair {
    let typed: (Fields<Specimen>) -> Filter<Specimen>
    let dynamic: DynamicFilter
  }

  private static let fields = DynamicFields()

  private static func ordered<Element: Comparand & Comparable>(
    _ typed: @escaping (Fields<Specimen>) -> QueryField<Specimen, Element>,
    _ dynamic: DynamicField, _ pool: [Element], _ value: (Element) -> Value,
    _ random: inout RandomSource
  ) -> Pair {
    let other = random.pick(pool)
    let others = random.several(pool)
    switch random.int(0..<7) {
    case 0: return Pair(typed: { typed($0) < other }, dynamic: dynamic < value(other))
    case 1: return Pair(typed: { typed($0) <= other }, dynamic: dynamic <= value(other))
    case 2: return Pair(typed: { typed($0) > other }, dynamic: dynamic > value(other))
    case 3: return Pair(typed: { typed($0) >= other }, dynamic: dynamic >= value(other))
    case 4: return Pair(typed: { typed($0) == other }, dynamic: dynamic == value(other))
    case 5: return Pair(typed: { typed($0) != other }, dynamic: dynamic != value(other))
    default:
      return Pair(
        typed: { typed($0).isIn(others) }, dynamic: dynamic.isIn(others.map(value)))
    }
  }

  private static func ordered<Element: Comparand & Comparable>(
    _ typed: @escaping (Fields<Specimen>) -> QueryField<Specimen, Element?>,
    _ dynamic: DynamicField, _ pool: [Element], _ value: (Element) -> Value,
    _ random: inout RandomSource
  ) -> Pair {
    let other = random.pick(pool)
    switch random.int(0..<6) {
    case 0: return Pair(typed: { typed($0) < other }, dynamic: dynamic < value(other))
    case 1: return Pair(typed: { typed($0) >= other }, dynamic: dynamic >= value(other))
    case 2: return Pair(typed: { typed($0) == other }, dynamic: dynamic == value(other))
    case 3: return Pair(typed: { typed($0) != other }, dynamic: dynamic != value(other))
    case 4: return Pair(typed: { typed($0).isNil() }, dynamic: dynamic == .null)
    default: return Pair(typed: { typed($0) != nil }, dynamic: dynamic != .null)
    }
  }

  private static func text(
    _ typed: @escaping (Fields<Specimen>) -> QueryField<Specimen, String>, _ dynamic: DynamicField,
    _ random: inout RandomSource
  ) -> Pair {
    let part = random.pick(Pool.texts)
    switch random.int(0..<3) {
    case 0: return Pair(typed: { typed($0).hasPrefix(part) }, dynamic: dynamic.hasPrefix(part))
    case 1: return Pair(typed: { typed($0).hasSuffix(part) }, dynamic: dynamic.hasSuffix(part))
    default:
      return Pair(typed: { typed($0).contains(part) }, dynamic: dynamic.contains(.string(part)))
    }
  }

  private static func leaf(_ random: inout RandomSource) -> Pair {
    let f = fields
    switch random.int(0..<24) {
    case 0: return ordered({ $0.name }, f.name, Pool.texts, Value.string, &random)
    case 1: return ordered({ $0.note }, f.note, Pool.texts, Value.string, &random)
    case 2: return text({ $0.name }, f.name, &random)
    case 3: return text({ $0.base.label }, f.base.label, &random)
    case 4: return ordered({ $0.count }, f.n, Pool.integers, { .integer(Int64($0)) }, &random)
    case 5: return ordered({ $0.small }, f.small, Pool.bytes, { .integer(Int64($0)) }, &random)
    case 6: return ordered({ $0.step }, f.step, Pool.words, { .integer(Int64($0)) }, &random)
    case 7: return ordered({ $0.big }, f.big, Pool.naturals, natural, &random)
    case 8: return ordered({ $0.ratio }, f.ratio, Pool.doubles, Value.double, &random)
    case 9: return ordered({ $0.weight }, f.weight, Pool.doubles, Value.double, &random)
    case 10: return ordered({ $0.gauge }, f.gauge, Pool.floats, { .double(Double($0)) }, &random)
    case 11: return ordered({ $0.price }, f.price, Pool.decimals, Value.decimal, &random)
    case 12: return ordered({ $0.made }, f.made, Pool.dates, Value.date, &random)
    case 13: return ordered({ $0.parent }, f.parent, Pool.ids, { .string("\($0)") }, &random)
    case 14: return ordered({ $0.token }, f.token, Pool.ids, Value.uuid, &random)
    case 15: return ordered({ $0.site.lat }, f.site.lat, Pool.doubles, Value.double, &random)
    case 16:
      return ordered(
        { $0.site.place.code }, f.site.place["code"], Pool.integers, { .integer(Int64($0)) },
        &random)
    case 17:
      let link = random.pick(Pool.links)
      return Pair(typed: { $0.link == link }, dynamic: f.link == Value.string(link.absoluteString))
    case 18:
      let blob = random.pick(Pool.blobs)
      return Pair(
        typed: { $0.blob != blob }, dynamic: f.blob != Value.string(blob.base64EncodedString()))
    case 19:
      let tag = random.pick(Pool.texts)
      return Pair(typed: { $0.tags.contains(tag) }, dynamic: f.tags.contains(Value.string(tag)))
    case 20:
      let number = random.pick(Pool.integers)
      return Pair(
        typed: { $0.numbers.contains(number) },
        dynamic: f.numbers.contains(Value.integer(Int64(number))))
    case 21: return Pair(typed: { !$0.isOpen }, dynamic: f.open == false)
    case 22: return Pair(typed: { $0.site == nil }, dynamic: f.site == .null)
    default:
      let color = random.pick(Specimen.Color.allCases)
      return Pair(typed: { $0.color == color }, dynamic: f.color == Value.string(color.rawValue))
    }
  }

  private static func natural(_ number: UInt64) -> Value {
    Int64(exactly: number).map(Value.integer) ?? .unsigned(number)
  }

  private static func random(depth: Int, _ random: inout RandomSource) -> Pair {
    guard depth > 0 else { return leaf(&random) }
    let first = Self.random(depth: depth - 1, &random)
    if random.once(in: 3) { return Pair(typed: { !first.typed($0) }, dynamic: !first.dynamic) }
    let second = Self.random(depth: depth - 1, &random)
    return random.bool()
      ? Pair(
        typed: { first.typed($0) && second.typed($0) }, dynamic: first.dynamic && second.dynamic)
      : Pair(
        typed: { first.typed($0) || second.typed($0) }, dynamic: first.dynamic || second.dynamic)
  }

  @Test("a query without a type selects what the same query of the type selects, in its order")
  func agreement() throws {
    var random = RandomSource()
    var hits = 0
    for _ in 0..<4 {
      try withTemporaryStore { store in
        let repository = store.repository(of: Specimen.self)
        try repository.save(Pool.texts.dropFirst().map { Specimen(id: $0, using: &random) })
        let collection = store.collection("Specimen")
        for _ in 0..<repetitions(400) {
          let pair = Self.random(depth: random.int(0..<4), &random)
          var typed = Specimen.where(pair.typed)
          var dynamic = DynamicQuery(where: pair.dynamic)
          if random.bool() {
            typed = typed.sorted(by: \.note).sorted(by: \.ratio, .reverse)
            dynamic = dynamic.sorted(by: "note").sorted(by: "ratio", isReversed: true)
          }
          if random.once(in: 3) {
            typed = typed.limit(5).offset(2)
            dynamic = dynamic.limit(5).offset(2)
          }

          let expected = try repository.fetch(typed).map { Value.string($0.id) }

          let hint = Comment(rawValue: "\(pair.dynamic), \(random.hint)")
          #expect(try collection.fetch(dynamic).map { $0["id"] } == expected, hint)
          #expect(try collection.count(dynamic) == expected.count, hint)
          if !expected.isEmpty { hits += 1 }
        }
      }
    }
    #expect(hits > 1_000)
  }

  @Test("numbers of another kind are compared by value, exactly")
  func numbers() throws {
    try withTemporaryStore { store in
      let collection = store.collection("c")
      try collection.save(
        [["id": 1, "n": 9_007_199_254_740_993, "d": 0.5], ["id": 2, "n": 2, "d": 2.0]],
        keyField: "id")
      func ids(_ condition: (DynamicFields) -> DynamicFilter) throws -> [Value?] {
        try collection.fetch(.where(condition)).map { $0["id"] }
      }

      #expect(try ids { $0.n == 2.0 } == [2] && ids { $0.n < 2.5 } == [2])
      #expect(try ids { $0.n == 9_007_199_254_740_992.0 } == [])
      #expect(try ids { $0.n > 9_007_199_254_740_992.0 } == [1])
      #expect(try ids { $0.d == 2 } == [2] && ids { $0.d.isIn([2, 7]) } == [2])
      #expect(try ids { $0.n < .unsigned(.max) } == [1, 2])
      // An integer that fits is the same, in whichever case it comes.
      #expect(try ids { $0.n == .unsigned(2) || $0.d == 7 } == [2])
      #expect(try ids { $0.n > .unsigned(2) } == [1] && ids { $0.n <= .unsigned(2) } == [2])
      #expect(try ids { $0.id == .unsigned(2) } == [2])
      #expect(try collection.count(.where { $0.n > .unsigned(2) }) == 1)
    }
  }

  @Test("a condition that nests too deep is refused, and a long chain is not")
  func depth() throws {
    try withTemporaryStore { store in
      let collection = store.collection("c")
      try collection.save([["id": 1, "n": 1], ["id": 2, "n": 2]], keyField: "id")
      let simple = DynamicFields().n == 1
      let refused = StoreError.queryTooDeep(limit: 100)
      let forms: [(DynamicFilter) -> DynamicFilter] = [
        { .not($0) }, { .all([$0]) }, { .any([$0, simple]) }, { !($0 && simple) },
      ]
      for form in forms {
        let deep = (0..<50_000).reduce(simple) { filter, _ in form(filter) }
        let query = DynamicQuery(where: deep)
        #expect(throws: refused) { try collection.fetch(query) }
        #expect(throws: refused) { try collection.count(query) }
        #expect(throws: refused) { try collection.explain(query) }
        #expect(throws: refused) { try collection.check(query) }
        #expect(throws: refused) {
          try collection.createIndex(on: [DynamicIndexPart("n")], where: deep)
        }
        #expect(deep == deep && !"\(deep)".isEmpty)
      }

      let all = (0..<2_000).reduce(simple) { filter, _ in filter && simple }
      let any = (0..<2_000).reduce(simple) { filter, _ in filter || simple }
      #expect(try collection.count(DynamicQuery(where: all)) == 1)
      #expect(try collection.count(DynamicQuery(where: any)) == 1)
      let most = (0..<99).reduce(simple) { filter, _ in .not(filter) }
      #expect(try collection.fetch(DynamicQuery(where: most)).map { $0["id"] } == [2])
      #expect(try collection.fetch(DynamicQuery(where: !(!simple))).map { $0["id"] } == [1])
    }
  }

  @Test("a field that a document lacks is nil")
  func missing() throws {
    try withTemporaryStore { store in
      let collection = store.collection("c")
      try collection.save(
        [["id": 1, "a": "x", "in": .document(["b": 1])], ["id": 2], ["id": 3, "a": .null]],
        keyField: "id")

      #expect(try collection.fetch(.where { $0.a == .null }).map { $0["id"] } == [2, 3])
      #expect(try collection.fetch(.where { $0["in"].b == .null }).map { $0["id"] } == [2, 3])
      #expect(try collection.fetch(.where { $0["in"].b < 5 }).map { $0["id"] } == [1])
      let sorted = DynamicQuery().sorted(by: "a", isReversed: true)
      #expect(try collection.fetch(sorted).map { $0["id"] } == [1, 2, 3])
    }
  }

  @Test("what a collection has no answer to is refused, and says what and why")
  func refusals() throws {
    typealias Part = DynamicQueryError.Part
    let cases: [((DynamicFields) -> DynamicFilter, Part, String)] = [
      ({ $0.nmae == "x" }, .name(0), "no field of this name"),
      ({ $0.site.lta == 1 }, .name(1), "no field of this name"),
      ({ $0.name.x == 1 }, .name(1), "a field inside `name`, which is string"),
      ({ $0.tags.x == 1 }, .name(1), "a field inside `tags`, which is [string]"),
      ({ $0.n == "x" }, .operand(0), "the string \"x\""), ({ $0.n == true }, .operand(0), "true"),
      ({ $0.name == 5 }, .operand(0), "5"), ({ $0.name < .null }, .operand(0), "nil"),
      ({ $0.n.isIn([1, "x"]) }, .operand(1), "the string \"x\""),
      ({ $0.n.isIn([1, .null]) }, .operand(1), "nil"),
      ({ $0.made == "yesterday" }, .operand(0), "the string \"yesterday\""),
      ({ $0.token == "x" }, .operand(0), "the string \"x\""),
      ({ $0.price < .double(.nan) }, .operand(0), "nan"),
      ({ $0.tags.contains(5) }, .operand(0), "5"), ({ $0.name.contains(5) }, .operand(0), "5"),
      ({ $0.name == ["x"] }, .operand(0), "an array"),
      ({ $0.open < true }, .comparison, "a field of kind bool"),
      ({ $0.blob < "AA==" }, .comparison, "a field of kind data"),
      ({ $0.tags == "x" }, .comparison, "a field of kind [string]"),
      ({ $0.site == "x" }, .comparison, "a field of kind document"),
      ({ $0.n.hasPrefix("x") }, .comparison, "a field of kind int64"),
      ({ $0.n.contains(5) }, .comparison, "a field of kind int64"),
    ]
    try withTemporaryStore { store in
      try store.declare(Specimen.self)
      let collection = store.collection("Specimen")
      for (condition, part, found) in cases {
        let query = DynamicQuery.where(condition)

        let error = #expect(throws: DynamicQueryError.self) { try collection.fetch(query) }

        #expect(error?.part == part && error?.found.hasPrefix(found) == true, "\(error!)")
        #expect(throws: DynamicQueryError.self) { try collection.count(query) }
        #expect(throws: DynamicQueryError.self) { try collection.check(query) }
      }
      #expect(throws: DynamicQueryError.self) {
        try collection.fetch(DynamicQuery().sorted(by: "tags"))
      }
      #expect(try store.collection("none").fetch(.where { $0.x == 1 }).isEmpty)
    }
  }

  @Test(
    "a path is its text, and the text the path",
    arguments: [
      (["a"], "a"), (["geo", "lat"], "geo.lat"), (["a.b"], "`a.b`"), (["`"], "````"),
      (["", "x y"], "``.`x y`"), (["ünï", "_1-b"], "ünï._1-b"), (["1a"], "`1a`"), (["-"], "`-`"),
      (["名前", "e\u{301}"], "名前.e\u{301}"),
    ])
  func paths(names: [String], text: String) throws {
    let path = try #require(FieldPath(names: names))

    #expect(path.description == text)
    #expect(FieldPath(text) == path)
  }

  @Test(
    "what is no path is none", arguments: ["", ".", "a.", ".a", "a..b", "a b", "`a", "`a`b", "1"])
  func noPaths(text: String) {
    #expect(FieldPath(text) == nil)
  }

  @Test("a decimal is compared with integers by its value, whatever their width")
  func decimals() throws {
    try withTemporaryStore { store in
      let stored: [WholeNumber] = [
        (-3, 0), (-2, 1), (0, 2), (2, 200), (3, 255), (.max, 7), (.min, 8),
      ].enumerated().map { WholeNumber(id: $0.offset, wide: $0.element.0, narrow: $0.element.1) }
      try store.repository(of: WholeNumber.self).save(stored)
      let whole = store.collection("WholeNumber")
      let huge = Decimal(string: "12345678901234567890123")
      let operands: [Decimal] = [
        2, 2.5, -2.5, -2, 0, 0.5, -0.5, 255, 255.5, 256, 300, -1, Decimal(UInt64.max),
        Decimal(Int64.max), Decimal(Int64.min), Decimal(Int64.min) - 1,
        try #require(huge), -(try #require(huge)),
      ]
      for operand in operands {
        func ids(_ holds: (Decimal) -> Bool, _ value: (WholeNumber) -> Decimal) -> [Int] {
          stored.filter { holds(value($0)) }.map(\.id)
        }
        let value = Value.decimal(operand)
        for (name, read) in [
          ("wide", { Decimal($0.wide) }), ("narrow", { Decimal($0.narrow) }),
        ] as [(String, (WholeNumber) -> Decimal)] {
          let field = DynamicFields()[dynamicMember: name]
          let rows: [(DynamicFilter, (Decimal) -> Bool)] = [
            (field < value, { $0 < operand }), (field <= value, { $0 <= operand }),
            (field > value, { $0 > operand }), (field >= value, { $0 >= operand }),
            (field == value, { $0 == operand }), (field != value, { $0 != operand }),
            (field.isIn([value, .integer(3)]), { $0 == operand || $0 == 3 }),
          ]
          for (filter, holds) in rows {
            let found = try whole.fetch(DynamicQuery(where: filter)).map { $0["id"] }
            let expected = ids(holds, read).map { Value?.some(.integer(Int64($0))) }
            #expect(found == expected, "\(filter)")
          }
        }
      }
      #expect(try whole.fetch(DynamicQuery(where: DynamicFields().wide < .decimal(.nan))).isEmpty)
    }
  }
}
