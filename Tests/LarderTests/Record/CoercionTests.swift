import Foundation
import LarderTesting
import Testing

@testable import Larder

@Suite struct CoercionTests {
  /// What is stored of `value` in a field that a type declared as `Field`.
  private func coerced<Field: Storable & Sendable>(
    _ value: Value, to _: Field.Type
  ) throws -> Field {
    try withTemporaryStore { store in
      try store.declare(One<Field>.self)
      try store.collection("One").save([["id": "a", "value": value]])
      return try #require(try store.repository(of: One<Field>.self).get("a")).value
    }
  }

  /// What the refusal says was found and expected; nil where the value was taken.
  private func refusal<Field: Storable & Sendable>(
    _ value: Value, to _: Field.Type, field: String? = "value"
  ) throws -> String? {
    try withTemporaryStore { store in
      try store.declare(One<Field>.self)
      do {
        try store.collection("One").save([["id": "a", "value": value]])
        return nil
      } catch StoreError.valueRefused("One", "\"a\"", let place, let found, let expected) {
        if let field { #expect(place == field) }
        #expect(try store.collection("One").count() == 0)
        return "expected \(expected), found \(found)"
      }
    }
  }

  @Test("integers take whole numbers of any kind that fit, and nothing else")
  func integers() throws {
    #expect(try coerced(5, to: Int8.self) == 5)
    #expect(try coerced(-128, to: Int8.self) == -128)
    #expect(try coerced(3.0, to: Int.self) == 3)
    #expect(try coerced(-0.0, to: UInt8.self) == 0)
    #expect(try coerced(.decimal(7), to: Int32.self) == 7)
    #expect(try coerced(Value(UInt64.max), to: UInt64.self) == .max)
    #expect(try coerced(.double(0x1p63), to: UInt64.self) == 1 << 63)
    #expect(try refusal(128, to: Int8.self) == "expected int8, found 128")
    #expect(try refusal(-1, to: UInt.self) == "expected uint64, found -1")
    #expect(try refusal(256, to: UInt8.self) == "expected uint8, found 256")
    #expect(try refusal(0.5, to: Int.self) == "expected int64, found 0.5")
    #expect(
      try refusal(.double(0x1p63), to: Int.self) == "expected int64, found 9.223372036854776e+18")
    #expect(try refusal(.double(.nan), to: Int.self) == "expected int64, found nan")
    #expect(
      try refusal(Value(UInt64.max), to: Int.self) == "expected int64, found 18446744073709551615")
    #expect(try refusal("5", to: Int.self) == "expected int64, found the string \"5\"")
    #expect(try refusal(true, to: Int.self) == "expected int64, found true")
    #expect(try refusal(.null, to: Int.self) == "expected int64, found null")
  }

  @Test("doubles and floats take every number that they are equal to, and no text")
  func doubles() throws {
    #expect(try coerced(5, to: Double.self) == 5)
    #expect(try coerced(Value(UInt64(1) << 63), to: Double.self) == 0x1p63)
    #expect(
      try refusal(9_007_199_254_740_993, to: Double.self)
        == "expected double, found 9007199254740993")
    #expect(try coerced(.decimal(Decimal(string: "0.1") ?? 0), to: Double.self) == 0.1)
    #expect(try coerced(0.1, to: Float.self) == 0.1)
    #expect(try coerced(1, to: Float.self) == 1)
    #expect(try coerced(.double(.nan), to: Double.self).isNaN)
    #expect(try coerced(.decimal(.nan), to: Double.self).isNaN)
    #expect(try refusal("0.5", to: Double.self) == "expected double, found the string \"0.5\"")
    #expect(try refusal(.null, to: Float.self) == "expected float, found null")
  }

  @Test("strings and Bools take only their own kind")
  func strings() throws {
    #expect(try coerced("x", to: String.self) == "x")
    #expect(try coerced(false, to: Bool.self) == false)
    #expect(try refusal(5, to: String.self) == "expected string, found 5")
    #expect(try refusal(["x"], to: String.self) == "expected string, found an array")
    #expect(try refusal(0, to: Bool.self) == "expected bool, found 0")
    #expect(try refusal("true", to: Bool.self) == "expected bool, found the string \"true\"")
    #expect(
      try refusal(.document(["a": 1]), to: Bool.self) == "expected bool, found an object")
    #expect(
      try refusal(.dictionary(["a": 1]), to: String.self) == "expected string, found a dictionary")
    let long = String(repeating: "x", count: 100)
    #expect(
      try refusal(.string(long), to: Int.self)
        == "expected int64, found the string \"\(long.prefix(40))\"")
  }

  @Test("dates, UUIDs, URLs, data and decimals are read from text")
  func text() throws {
    let id = UUID()
    #expect(
      try coerced("2001-01-01T00:00:01.5Z", to: Date.self)
        == Date(timeIntervalSinceReferenceDate: 1.5))
    #expect(try coerced(.string(id.uuidString.lowercased()), to: UUID.self) == id)
    #expect(try coerced("https://example.org/a", to: URL.self).host() == "example.org")
    #expect(try coerced("AQI=", to: Data.self) == Data([1, 2]))
    #expect(try coerced("", to: Data.self) == Data())
    #expect(try coerced("-12.50", to: Decimal.self) == Decimal(string: "-12.5"))
    #expect(try coerced("1e3", to: Decimal.self) == 1000)
    #expect(try coerced(0.1, to: Decimal.self) == Decimal(string: "0.1"))
    #expect(try coerced(5, to: Decimal.self) == 5)
    #expect(try coerced(Value(UInt64.max), to: Decimal.self) == Decimal(UInt64.max))

    let date = "expected a date (ISO 8601, such as 2026-03-01T09:30:00Z), found "
    #expect(try refusal("2026-02-30", to: Date.self) == date + "the string \"2026-02-30\"")
    #expect(try refusal(5, to: Date.self) == date + "5")
    #expect(try refusal("x", to: UUID.self) == "expected uuid, found the string \"x\"")
    #expect(
      try refusal("", to: URL.self)
        == "expected a URL (with spaces, and letters beyond ASCII, percent-encoded), found the string \"\""
    )
    #expect(try refusal("!", to: Data.self) == "expected data in Base64, found the string \"!\"")
    for text in ["", "12x", "-", ".", "1e", " 5", "5 ", "0x1", "nan", "--5", "1e400", "e5", "1,5"] {
      #expect(
        try refusal(.string(text), to: Decimal.self)
          == "expected a decimal number of at most 38 digits, found the string \"\(text)\"")
    }
    #expect(
      try refusal(.double(.infinity), to: Decimal.self)
        == "expected a decimal number of at most 38 digits, found inf")
    #expect(
      try refusal(.double(1e300), to: Decimal.self)
        == "expected a decimal number of at most 38 digits, found 1e+300")
  }

  @Test("optionals take null, and arrays and sets coerce their elements")
  func compounds() throws {
    #expect(try coerced(.null, to: Int?.self) == nil)
    #expect(try coerced(3.0, to: Int?.self) == 3)
    #expect(try coerced(["2001-01-01", .null], to: [Date?].self).last == .some(nil))
    #expect(try coerced([3, 1, 2.0, 3], to: Set<Int>.self) == [1, 2, 3])
    #expect(try coerced([], to: [Int].self) == [])
    #expect(try refusal(5, to: [Int].self) == "expected an array, found 5")
    #expect(try refusal(.null, to: [Int].self) == "expected an array, found null")
    #expect(
      try refusal(["x"], to: [Int].self, field: "value.0")
        == "expected int64, found the string \"x\"")
    #expect(
      try refusal([["a"], [1]], to: [[String]].self, field: "value.1.0")
        == "expected string, found 1")
  }

  @Test("dictionaries take objects, whose names become keys")
  func dictionaries() throws {
    #expect(
      try coerced(.document(["a": 1, "b": 2.0]), to: [String: Int].self) == ["a": 1, "b": 2])
    #expect(try coerced(.document(["1": "x"]), to: [Int: String].self) == [1: "x"])
    #expect(try coerced(.document(["0.5": true]), to: [Double: Bool].self) == [0.5: true])
    #expect(try coerced(.document(["true": 1]), to: [Bool: Int].self) == [true: 1])
    let id = UUID()
    #expect(try coerced(.document([id.uuidString: 1]), to: [UUID: Int].self) == [id: 1])
    #expect(
      try refusal(.document(["x": 1]), to: [Int: Int].self)
        == "expected a key that is int64, found the key \"x\"")
    #expect(
      try refusal(.document(["1": "y"]), to: [Int: Int].self, field: "value.\"1\"")
        == "expected int64, found the string \"y\"")
  }

  @Test("a key is an integer only as that is written", arguments: ["007", "+8", "-0", "1.0", " 1"])
  func writtenKeys(key: String) throws {
    #expect(
      try refusal(.document([key: 1]), to: [Int: Int].self)
        == "expected a key that is int64, found the key \"\(key)\"")
    #expect(
      try refusal(.document([key: 1]), to: [UInt64: Int].self)
        == "expected a key that is uint64, found the key \"\(key)\"")
  }

  @Test("what is equal once it is coerced stands once in a set, and is refused as a key")
  func equalAfterwards() throws {
    try withTemporaryStore { store in
      let sets = store.repository(of: One<Set<Int>>.self)
      try sets.save(One([1, 2]))
      let report = try store.collection("One").save([["id": "a", "value": [1, 2.0, 1.0, 2]]])
      #expect(report.unchanged == 1)
    }
    let refused = try refusal(.document(["1": 5, "1.0": 6]), to: [Double: Int].self)
    #expect(refused?.hasPrefix("expected each key once, found the key \"1") == true)
    #expect(refused?.hasSuffix("a second time") == true)
  }

  @Test("an embedded document takes an object and coerces its fields")
  func embedded() throws {
    #expect(
      try coerced(.document(["lat": 1, "lon": 2, "label": .null]), to: Geo.self)
        == Geo(lat: 1, lon: 2))
    #expect(try refusal("x", to: Geo.self) == "expected an object, found the string \"x\"")
    #expect(
      try refusal([.document(["lat": "x", "lon": 1])], to: [Geo].self, field: "value.0.lat")
        == "expected double, found the string \"x\"")
  }
}
