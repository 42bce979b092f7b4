internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Holds back documents that come behind the last of those that are wanted, by the first value that
/// they are sorted by, before anything is encoded.
///
/// Each document that is wanted passes; so does what is out of the ordinary.
final class SortGate {
  private let scalar: RecordScalar
  private let test: ByteTest
  private let isReversed: Bool
  /// The keys that pass.
  private let range: UnsafeMutablePointer<ScalarRange>

  /// - Parameters:
  ///   - slot: Where the value stands in the documents' table.
  ///   - kind: What the type reads the field as. Nil where its values have no keys.
  init?(slot: Int, _ kind: IndexScalar, isReversed: Bool, tableCount: Int) {
    guard slot >= 0, let test = kind == .string ? .textOrder : ByteTest(kind) else { return nil }
    self.test = test
    scalar = RecordScalar(slot: slot, test, tableCount: tableCount)
    self.isReversed = isReversed
    range = .allocate(capacity: 1)
    range.initialize(to: ScalarRange(.min, .max))
  }

  deinit { range.deallocate() }

  /// From now on lets pass what may come before this document, or is equal to it.
  func close(behind record: UnsafeRawBufferPointer) {
    range.pointee = scalar.key(in: record).flatMap { bounds($0) } ?? ScalarRange(.min, .max)
  }

  /// Nil where all keys may come before this one.
  private func bounds(_ key: Int64) -> ScalarRange? {
    guard test == .double || test == .date else {
      return isReversed ? ScalarRange(key, .max) : ScalarRange(.min, key)
    }
    let (infinity, negative) = (
      ScalarRange.key(doubleBits: Double.infinity.bitPattern),
      ScalarRange.key(doubleBits: (-Double.infinity).bitPattern)
    )
    // A number that is none comes last, whichever its sign. Both zeros are one number.
    guard negative...infinity ~= key else { return nil }
    let zeros =
      ScalarRange.key(doubleBits: (-0.0).bitPattern)...ScalarRange.key(doubleBits: (0.0).bitPattern)
    let isZero = zeros ~= key
    return isReversed
      ? ScalarRange(isZero ? zeros.lowerBound : key, negative - 1)
      : ScalarRange(.min, isZero ? zeros.upperBound : key)
  }

  /// The test for walks over records; it lives no longer than the gate.
  var sieve: Sieve { Sieve(scalar: scalar, range: range) }

  struct Sieve: ValueTest {
    fileprivate let scalar: RecordScalar
    fileprivate let range: UnsafeMutablePointer<ScalarRange>

    @inline(__always) func passes(_ bytes: UnsafeRawBufferPointer) -> Bool {
      guard let key = scalar.key(in: bytes) else { return true }
      return range.pointee.contains(key)
    }
  }
}
