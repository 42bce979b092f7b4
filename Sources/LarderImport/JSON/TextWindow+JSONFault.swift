// What is wrong with a JSON text, as errors say it. Nothing here runs unless an import fails.

extension TextWindow {
  /// A refusal of what is at `index`, counted from ``start``.
  ///
  /// When that cannot be read, the error of reading it is returned instead.
  @inline(never)
  mutating func error(
    _ fault: JSONFault, at index: Int, _ limits: JSONLimits, name: String = ""
  ) -> ImportError {
    next = start + index
    switch fault {
    case .unexpected(let expectation): return unexpected(phrase(expectation))
    case .notUTF8: return notUTF8()
    case .loneSurrogate(let unit):
      return error(
        .encoding, at: position,
        found: "`\\u\(String(unit, radix: 16))`, half of a pair of surrogates",
        expected: "both halves, or the character itself")
    case .tooDeep:
      return error(.depth, limits.depth, of: "arrays and objects inside one another", at: position)
    case .tooManyMembers:
      return error(.memberCount, limits.memberCount, of: "members in an object", at: position)
    case .stringTooLong:
      return error(.stringByteCount, limits.stringByteCount, of: "bytes in a string", at: position)
    case .numberTooLong:
      return error(.numberByteCount, limits.numberByteCount, of: "bytes in a number", at: position)
    case .duplicateName:
      return error(
        .duplicateKey, at: position, found: "a second \(quoted(name)) in one object",
        expected: "each name once")
    }
  }

  private func phrase(_ expectation: JSONFault.Expectation) -> String {
    switch expectation {
    case .value: "a value"
    case .name: "a member's name in `\"`"
    case .colon: "`:`"
    case .commaOrBrace: "`,` or `}`"
    case .commaOrBracket: "`,` or `]`"
    case .stringEnd(let index):
      "`\"` to end the string that begins at \(position(of: start + index))"
    case .noControl: "`\"` or an escape: control characters are written as `\\u00XX`"
    case .escape: "an escape behind `\\`"
    case .escapeLetter: "one of `\"\\/bfnrtu` behind `\\`"
    case .fourDigits: "four hexadecimal digits behind `\\u`"
    case .inNumber(let expected): expected
    }
  }
}
