import Foundation
import LarderTestKit
import Testing

@testable import Larder

struct CodedMutationTests {
  @Test("bytes that something went wrong with are decoded or refused, and never read beyond")
  func mutated() throws {
    var random = RandomSource()
    let originals = try (0..<40).map { _ in try codedBytes(random.richValue()) }
    let guarded = GuardedBytes()
    var refused = 0

    for round in 0..<repetitions(20_000) {
      let bytes = random.mutated(originals[round % originals.count], others: originals)
      let place = guarded.place(bytes)
      do {
        _ = try decoded(RichValue.self, from: place)
      } catch is DecodingError {
        refused += 1
      } catch {
        Issue.record("\(error) is no DecodingError; \(random.hint)")
      }
    }

    #expect(refused > repetitions(5_000))
  }

  @Test("any bytes at all are decoded as any type, or refused")
  func noise() throws {
    var random = RandomSource()
    let guarded = GuardedBytes()
    for _ in 0..<repetitions(10_000) {
      let place = guarded.place(random.array(0..<60) { UInt8(truncatingIfNeeded: $0.next()) })
      _ = try? decoded([String: RichValue.Channel].self, from: place)
      _ = try? decoded([RichValue.Tree?].self, from: place)
      _ = try? decoded([Date: [Decimal??]].self, from: place)
      _ = try? decoded(Set<RichValue.Point>.self, from: place)
      _ = try? decoded(Holder<URL>.self, from: place)
      _ = try? decoded(Int8??.self, from: place)
    }
  }
}
