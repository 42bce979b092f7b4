import Foundation
import Larder
import LarderTesting
import Testing

/// Aggregates at the ends of what doubles can say.
@Suite struct EqualExtremeTests {
  @Test("the smallest and the largest zero is 0.0, whatever was stored, by every way")
  func zeros() throws {
    for zeros in [[0.0, -0.0], [-0.0, 0.0], [-0.0]] {
      try withTemporaryStore { store in
        let documents = zeros.enumerated().map { One($0.element, id: "\($0.offset)") }
        let repository = store.repository(of: One<Double>.self)
        let memory = InMemoryRepository(of: One<Double>.self)
        try repository.save(documents)
        try memory.save(documents)
        for isIndexed in [false, true] {
          if isIndexed { try store.collection("One").createIndex(on: "value") }
          let found = [
            try repository.min(\.value), try repository.max(\.value), try memory.min(\.value),
            try memory.max(\.value),
            try repository.min(\.value, of: One.all.sorted(by: \.value).limit(2)),
          ]
          #expect(found.allSatisfy { $0?.sign == .plus && $0 == 0 })
        }
      }
    }
  }

  @Test("numbers that are none are one value, with the same bits by every way")
  func noNumbers() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: One<Double>.self)
      let memory = InMemoryRepository(of: One<Double>.self)
      let documents = [-Double.nan, .nan, 1].enumerated().map {
        One($0.element, id: "\($0.offset)")
      }
      try repository.save(documents)
      try memory.save(documents)
      for parts: [DynamicIndexPart] in [[], ["value"], ["value", "id"]] {
        if !parts.isEmpty { try store.collection("One").createIndex(on: parts, name: "one") }
        for found in [
          try repository.distinct(\.value), try memory.distinct(\.value),
          try repository.counts(by: \.value).map(\.key),
        ] {
          #expect(found.count == 2)
          #expect(found.filter(\.isNaN).map(\.bitPattern) == [Double.nan.bitPattern])
        }
        if !parts.isEmpty { try store.collection("One").dropIndex("one") }
      }
    }
  }

  @Test("of texts that are canonically equivalent every plan gives the composed one")
  func spellings() throws {
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    for texts in [[composed, decomposed], [decomposed, composed], [decomposed]] {
      try withTemporaryStore { store in
        let documents = texts.enumerated().map { One($0.element, id: "\($0.offset)") }
        let repository = store.repository(of: One<String>.self)
        let memory = InMemoryRepository(of: One<String>.self)
        try repository.save(documents)
        try memory.save(documents)
        let collection = store.collection("One")
        let indexes: [[DynamicIndexPart]] = [
          ["value"], [DynamicIndexPart(FieldPath(field: "value"), isDescending: true)],
          ["value", DynamicIndexPart(FieldPath(field: "id"), isDescending: true)], ["id"],
        ]

        var answers = try self.texts(in: memory) + self.texts(in: repository)
        for parts in indexes {
          try collection.createIndex(on: parts, name: "one")
          answers += try self.texts(in: repository)
          try collection.dropIndex("one")
        }

        #expect(answers.allSatisfy { $0.utf8.elementsEqual(composed.utf8) })
      }
    }
  }

  private func texts(in repository: some Repository<One<String>, One<String>>) throws -> [String] {
    let queries = [
      One<String>.all, One<String>.where { $0.value == "\u{E9}" },
      One<String>.where { $0.id >= "" },
      One<String>.all.sorted(by: \.value, .reverse).limit(5),
    ]
    var texts: [String] = []
    for query in queries {
      if let least = try repository.min(\.value, of: query) { texts.append(least) }
      if let greatest = try repository.max(\.value, of: query) { texts.append(greatest) }
      texts += try repository.distinct(\.value, of: query)
      texts += try repository.counts(by: \.value, of: query).map(\.key)
    }
    return texts
  }

  @Test("zeros are one group, under 0.0, whichever was saved first")
  func groupsOfZeros() throws {
    for zeros in [[0.0, -0.0], [-0.0, 0.0], [-0.0]] {
      try withTemporaryStore { store in
        let repository = store.repository(of: One<Double>.self)
        try repository.save(zeros.enumerated().map { One($0.element, id: "\($0.offset)") })
        for isIndexed in [false, true] {
          if isIndexed { try store.collection("One").createIndex(on: "value") }
          let found = try repository.distinct(\.value) + repository.counts(by: \.value).map(\.key)
          #expect(found.map(\.sign) == [.plus, .plus])
        }
      }
    }
  }

  @Test("an average is finite where all of its values are, also where their sum is not")
  func largeAverages() throws {
    let largest = Double.greatestFiniteMagnitude
    let cases: [([Double], Double)] = [
      ([1.7e308, 1.7e308], 1.7e308), ([largest, largest, largest], largest),
      ([-largest, -largest], -largest), ([largest, largest, -largest, -largest], 0),
      ([largest, largest, .infinity], .infinity), ([1, 2], 1.5),
    ]
    for (numbers, average) in cases {
      try withTemporaryStore { store in
        let documents = numbers.enumerated().map { One($0.element, id: "\($0.offset)") }
        let repository = store.repository(of: One<Double>.self)
        let memory = InMemoryRepository(of: One<Double>.self)
        try repository.save(documents)
        try memory.save(documents)

        #expect(try repository.average(\.value) == average)
        #expect(try memory.average(\.value) == average)
      }
    }
  }
}
