import Foundation

@testable import Larder

/// The bytes that a value is coded as.
func codedBytes(
  _ value: some Encodable, _ userInfo: [CodingUserInfoKey: any Sendable] = [:]
) throws -> [UInt8] {
  let output = CodableOutput()
  try output.encode(value, userInfo)
  var writer = RecordWriter(binding: .none)
  output.putValue(into: &writer)
  return writer.withBytes { [UInt8]($0) }
}

/// The value that bytes are coded from.
func decoded<Value: Decodable>(
  _ type: Value.Type, from bytes: [UInt8], _ userInfo: [CodingUserInfoKey: any Sendable] = [:]
) throws -> Value {
  try bytes.withUnsafeBytes { try decoded(type, from: $0, userInfo) }
}

func decoded<Value: Decodable>(
  _ type: Value.Type, from bytes: UnsafeRawBufferPointer,
  _ userInfo: [CodingUserInfoKey: any Sendable] = [:]
) throws -> Value {
  let start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 16)!
  let reader = ValueReader(start, start + bytes.count, binding: .none, depth: 0)
  return try reader.decoded(type, userInfo)
}

/// What comes back of a value that is coded and decoded.
func recoded<Value: Codable>(_ value: Value) throws -> Value {
  try decoded(Value.self, from: try codedBytes(value))
}

/// What the bytes are to a reader that does not know the type.
func dynamicValue(_ bytes: [UInt8]) throws -> Larder.Value {
  try bytes.withUnsafeBytes { bytes in
    var reader = ValueReader(
      bytes.baseAddress!, bytes.baseAddress! + bytes.count, binding: .none, depth: 0)
    let value = try reader.value()
    precondition(reader.left == 0, "bytes behind the value")
    return value
  }
}
