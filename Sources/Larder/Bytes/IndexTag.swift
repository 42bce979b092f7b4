/// The first byte of an encoded value: what it is, so that kinds are in the order of
/// ``Value/totalOrder(_:)``.
enum IndexTag {
  /// All that stands in the entry of a record which lacks a field whose default each process has another
  /// one of. No value and no part begins with it, so that it is the first in its index.
  static let unsettled: UInt8 = 0x00
  /// The record has no such field; what it reads as is the type's business.
  static let missing: UInt8 = 0x01
  static let null: UInt8 = 0x02
  static let no: UInt8 = 0x04
  static let yes: UInt8 = 0x05
  /// Plus or minus the number of bytes that follow, up to 8.
  static let zero: UInt8 = 0x20
  static let double: UInt8 = 0x30
  static let notANumber: UInt8 = 0x31
  static let decimal: UInt8 = 0x34
  static let decimalNotANumber: UInt8 = 0x35
  static let date: UInt8 = 0x38
  static let dateNotANumber: UInt8 = 0x39
  static let string: UInt8 = 0x3C
  static let uuid: UInt8 = 0x40
  static let url: UInt8 = 0x44
  static let data: UInt8 = 0x48
  /// A value that the field's kind cannot be read from.
  static let unreadable: UInt8 = 0x7E

  /// Whether a value that begins so equals no other one, as Swift's `==` has it: nil, and NaN but that of
  /// decimals.
  @inline(__always) static func equalsNothing(_ tag: UInt8) -> Bool {
    tag <= null || tag == notANumber || tag == dateNotANumber
  }
}
