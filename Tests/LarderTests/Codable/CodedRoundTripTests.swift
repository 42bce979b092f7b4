import Foundation
import LarderTestKit
import Testing

@testable import Larder

struct CodedRoundTripTests {
  @Test("what comes back is what JSON brings back, and the value itself")
  func likeJSON() throws {
    var random = RandomSource()
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    for _ in 0..<300 {
      let value = random.richValue()

      let result = try recoded(value)

      #expect(result == value, "\(random.hint)")
      let json = try decoder.decode(RichValue.self, from: try encoder.encode(value))
      #expect(result == json, "\(random.hint)")
    }
  }

  @Test("numbers come back to the last bit, those that JSON does not have among them")
  func exactNumbers() throws {
    var random = RandomSource()
    for _ in 0..<500 {
      let double = random.double()
      let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      #expect(try recoded([double])[0].bitPattern == double.bitPattern, "\(random.hint)")
      #expect(try recoded(["f": float])["f"]?.bitPattern == float.bitPattern, "\(random.hint)")
      let date = Date(timeIntervalSinceReferenceDate: random.double())
      let result = try recoded(Holder(value: date)).value
      #expect(
        result.timeIntervalSinceReferenceDate.bitPattern
          == date.timeIntervalSinceReferenceDate.bitPattern, "\(random.hint)")
    }
    #expect(try recoded([UInt64.max, 0, 1 << 63]) == [UInt64.max, 0, 1 << 63])
    #expect(try recoded([Int64.min, .max]) == [Int64.min, .max])
  }

  @Test("decimals keep all their digits, which JSON rounds")
  func exactDecimals() throws {
    var random = RandomSource()
    for _ in 0..<200 {
      let decimal = random.decimal()
      let result = try recoded(Holder(value: decimal)).value
      #expect(decimal.isNaN ? result.isNaN : result == decimal, "\(random.hint)")
    }
  }

  @Test("each level of nested optionals is kept, natively and not")
  func nestedOptionals() throws {
    for value: Int??? in [nil, .some(nil), .some(.some(nil)), 5] {
      #expect(try recoded(Holder(value: value)).value == value)
      #expect(try recoded([value]) == [value])
      #expect(try recoded(Wrapping(value: value)).value == value)
    }
    typealias Channel = RichValue.Channel
    for value: Channel??? in [nil, .some(nil), .some(.some(nil)), .mail(address: "a")] {
      #expect(try recoded(Holder(value: value)).value == value)
      #expect(try recoded([value]) == [value])
      #expect(try recoded(value) == value)
    }
    for value: Bool?? in [nil, .some(nil), false] {
      #expect(try recoded(TwoLevels(value: value)).value == value)
    }
  }

  @Test("a subclass and its superclass may share a container or have one each")
  func classes() throws {
    for shares in [true, false] {
      let dog = Dog(name: "Rex", tricks: ["sit"], shares: shares)

      let result = try recoded(dog)

      #expect(result.name == "Rex")
      #expect(result.tricks == ["sit"])
      #expect(result.shares == shares)
    }
  }

  @Test("values that encode nothing come back")
  func empty() throws {
    struct Empty: Codable, Equatable {}
    #expect(try recoded(Empty()) == Empty())
    #expect(try recoded([Empty(), Empty()]).count == 2)
    #expect(try recoded(Holder(value: Empty())).value == Empty())
    #expect(try recoded([[Int]]()) == [])
    #expect(try recoded([String: RichValue.Point]()) == [:])
  }

  @Test("a large dictionary comes back")
  func large() throws {
    let points = (0..<5000).map { ("key \($0)", RichValue.Point(x: Double($0), y: 1)) }
    let value = Dictionary(uniqueKeysWithValues: points)
    #expect(try recoded(value) == value)
    let many = Array(repeating: RichValue.Channel.mail(address: "x"), count: 70_000)
    #expect(try recoded(many) == many)
  }
}

struct Holder<Value: Codable>: Codable {
  var value: Value
}

private struct TwoLevels: Codable {
  var value: Bool??
}

/// Encodes itself as its value.
private struct Wrapping<Value: Codable>: Codable {
  var value: Value

  init(value: Value) { self.value = value }

  init(from decoder: any Decoder) throws {
    value = try decoder.singleValueContainer().decode(Value.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

private class Animal: Codable {
  var name: String

  init(name: String) { self.name = name }
}

private final class Dog: Animal {
  var tricks: [String]
  var shares: Bool

  private enum CodingKeys: CodingKey { case tricks, shares }

  init(name: String, tricks: [String], shares: Bool) {
    self.tricks = tricks
    self.shares = shares
    super.init(name: name)
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    tricks = try container.decode([String].self, forKey: .tricks)
    shares = try container.decode(Bool.self, forKey: .shares)
    try super.init(from: shares ? decoder : container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(tricks, forKey: .tricks)
    try super.encode(to: shares ? encoder : container.superEncoder())
    try container.encode(shares, forKey: .shares)
  }
}
