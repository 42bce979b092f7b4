internal import Larder
internal import LarderImport

/// Values as JSON, as exports write it.
enum JSONText {
  /// The value in one line; with `pretty` every member and element in one of its own.
  static func text(of value: Value, pretty: Bool = false) -> String {
    var output = JSONOutput(isPretty: pretty)
    output.write(value)
    return String(decoding: output.bytes, as: UTF8.self)
  }
}
