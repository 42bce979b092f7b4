/// What is wrong with a text, at a place among its bytes.
enum JSONFault: Equatable {
  /// What stands there is not what may stand there.
  case unexpected(Expectation)
  case notUTF8
  /// Half of a pair of surrogates, in an escape.
  case loneSurrogate(UInt32)
  case tooDeep, tooManyMembers, stringTooLong, numberTooLong
  /// The latest name on the tape stands a second time in its object.
  case duplicateName

  enum Expectation: Equatable {
    case value, name, colon, commaOrBrace, commaOrBracket
    /// The end of the string that begins at a place.
    case stringEnd(Int)
    case noControl
    case escape, escapeLetter, fourDigits
    case inNumber(String)
  }
}
