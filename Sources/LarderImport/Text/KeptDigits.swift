#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

// A number of a file is never rounded unseen: the nearest double, written with as many digits, is what
// stands there. The digits of 0.1 are kept, although no double is equal to it, and so are those of
// 0.10000000000000001, as C writes it; those of 9007199254740993.0 are not.

extension Double {
  /// Whether this double, the nearest one to the number that `text` is, has all its digits.
  package func keepsDigits(of text: String) -> Bool { keepsDigits(SignificantDigits.of(text)) }

  /// - Parameter digits: From the first that is not zero to the last that is not.
  func keepsDigits(_ digits: [UInt8]) -> Bool {
    if digits.count < 16 || SignificantDigits.of("\(self)") == digits { return true }
    var buffer = [CChar](repeating: 0, count: digits.count + 32)
    let count = buffer.count
    _ = withVaList([Int32(digits.count - 1), self]) { vsnprintf(&buffer, count, "%.*e", $0) }
    let text = String(
      decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return SignificantDigits.of(text) == digits
  }
}

extension Float {
  /// Whether the nearest float has all digits of a double, as they are written.
  static func keepsDigits(of number: Double) -> Bool {
    let float = Float(number)
    if Double(float) == number || number.isNaN { return true }
    guard float.isFinite, float != 0 else { return false }
    let digits = SignificantDigits.of("\(number)")
    return digits.count <= 6 || SignificantDigits.of("\(float)") == digits
  }
}
