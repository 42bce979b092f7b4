/// A place in a text: a line and a column, both counted from 1.
///
/// Lines end at a line feed. Columns count Unicode scalars, not bytes, so that they agree with
/// what an editor shows for most text; a carriage return or a tab is one column. The end of a
/// file stands one column behind its last scalar.
public struct TextPosition: Hashable, Sendable {
  /// The line, counted from 1.
  public var line: Int

  /// The column in Unicode scalars, counted from 1.
  public var column: Int

  /// The place at `line` and `column`.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// Line 1, column 1.
  public static let start = TextPosition(line: 1, column: 1)
}

extension TextPosition: CustomStringConvertible {
  /// The place as `12:7`.
  public var description: String { "\(line):\(column)" }
}
