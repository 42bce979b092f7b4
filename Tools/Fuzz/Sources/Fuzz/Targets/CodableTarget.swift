import Foundation
@testable import Larder

/// Values of `Codable` types, decoded from bytes. The first byte chooses the type.
struct CodableTarget: FuzzTarget {
  func run(_ input: FuzzInput) {
    var input = input
    let choice = input.byte()
    input.rest().withExactCopy { bytes in
      switch choice & 7 {
      case 0...2: decode(RichValue.self, bytes)
      case 3: decode([RichValue.Channel].self, bytes)
      case 4: decode([String: RichValue.Tree?].self, bytes)
      case 5: decode([Date: [Decimal??]].self, bytes)
      case 6: decode([UUID: Set<RichValue.Point>].self, bytes)
      default: decode([Int: [RichValue.Widths]].self, bytes)
      }
    }
  }

  private func decode<Value: Codable>(_ type: Value.Type, _ bytes: UnsafeRawBufferPointer) {
    guard let value = try? decoded(type, from: bytes) else { return }
    // What has no bytes, such as a URL that is not one, is refused by the encoder.
    guard let once = try? codedBytes(value) else { return }
    guard let again = try? decoded(type, from: once) else {
      broken("what was encoded can be decoded")
    }
    guard let twice = try? codedBytes(again), twice == once else {
      broken("what was decoded is encoded as it was")
    }
  }

  static func seeds() throws -> [String: [UInt8]] {
    var random = RandomSource(seed: 1)
    var seeds: [String: [UInt8]] = [:]
    for number in 0..<6 {
      let value = random.richValue()
      let tree = value.tree
      seeds["rich-\(number)"] = [0] + (try codedBytes(value))
      seeds["channels-\(number)"] = [3] + (try codedBytes([value.channel, .unknown]))
      seeds["trees-\(number)"] = [4] + (try codedBytes(["a": tree, "b": nil]))
      let decimals: [Date: [Decimal??]] = [value.date: [value.decimal, .some(nil), nil]]
      seeds["decimals-\(number)"] = [5] + (try codedBytes(decimals))
      seeds["points-\(number)"] = [6] + (try codedBytes([value.uuid: value.places]))
      seeds["widths-\(number)"] = [7] + (try codedBytes([number: [value.widths]]))
    }
    return seeds
  }
}
