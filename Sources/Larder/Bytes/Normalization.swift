#if canImport(Darwin)
  internal import Foundation
#else
  @_spi(_Unicode) internal import Swift
#endif

extension String {
  /// This string in Unicode's normalisation form C, in which equal strings have equal bytes.
  @usableFromInline func normalized() -> String {
    // The first character that anything composes with is U+0300, whose first byte is CC.
    if utf8.allSatisfy({ $0 < 0xCC }) { return self }
    #if canImport(Darwin)
      // Decomposed first: composing alone leaves a Hangul syllable and a final consonant behind it
      // apart, which `==` and the decomposed spelling make one.
      return decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping
    #else
      // By the tables of the standard library, which `==` goes by. Foundation's are of an older
      // Unicode, by which texts that are equal have different normal forms.
      let composed = composed
      guard utf8.contains(0xE0), unicodeScalars.contains(where: \.isMarkOfMarks) else {
        return composed
      }
      // The standard library takes them apart without putting their parts in order, and does so the second time.
      return composed.composed
    #endif
  }

  #if !canImport(Darwin)
    private var composed: String {
      var scalars = String.UnicodeScalarView()
      scalars.append(contentsOf: _nfc)
      return String(scalars)
    }
  #endif
}

extension Unicode.Scalar {
  /// Whether it is one of the vowels of Tibetan that stand for two marks without being marks themselves; there are no
  /// other such characters (UAX #15, "Non-Starter Decompositions").
  fileprivate var isMarkOfMarks: Bool { value == 0xF73 || value == 0xF75 || value == 0xF81 }
}

extension UnsafeRawBufferPointer {
  /// Whether this is UTF-8 of characters below U+0300 alone, which are in normalisation form C: ASCII,
  /// and what most of Europe's languages write beyond it.
  var isComposedLatin: Bool {
    if Bytes.areASCII(self) { return true }
    var place = 0
    while place < count {
      let byte = self[place]
      if byte < 0x80 {
        place &+= 1
      } else if byte >= 0xC2, byte < 0xCC, place &+ 1 < count, self[place &+ 1] & 0xC0 == 0x80 {
        place &+= 2
      } else {
        return false
      }
    }
    return true
  }
}

// MARK: One scalar, one character

extension UnsafeRawBufferPointer {
  /// Whether this is UTF-8 of scalars alone that compose with no neighbour and are characters of their
  /// own, whatever stands beside them: the text is in normalisation form C, and where its bytes are
  /// those of another such text, so are its characters. CR and LF, which are one character together,
  /// are among them; see ``hasBreak``.
  ///
  /// Of these are the letters of Europe's languages, punctuation, kana, Chinese characters and Hangul
  /// syllables. False says nothing.
  var isComposed: Bool {
    if Bytes.areASCII(self) { return true }
    var place = 0
    while place < count {
      let byte = self[place]
      if byte < 0x80 {
        place &+= 1
      } else if byte < 0xE0 {
        guard place &+ 1 < count, Self.isComposed(byte, self[place &+ 1]) else { return false }
        place &+= 2
      } else {
        guard place &+ 2 < count,
          Self.isComposed(byte, self[place &+ 1], self[place &+ 2])
        else { return false }
        place &+= 3
      }
    }
    return true
  }

  /// U+0080 to U+02FF, U+0388 to U+047F.
  @inline(__always) private static func isComposed(_ first: UInt8, _ second: UInt8) -> Bool {
    guard second & 0xC0 == 0x80 else { return false }
    return switch first {
    case 0xC2...0xCB, 0xCF...0xD1: true
    case 0xCE: second >= 0x88
    default: false
    }
  }

  private static func isComposed(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Bool {
    guard second & 0xC0 == 0x80, third & 0xC0 == 0x80 else { return false }
    switch (first, second) {
    // U+2010 to U+2027, U+2030 to U+205E: dashes, quotation marks, dots. U+20A0 to U+20BF: currencies.
    case (0xE2, 0x80): return 0x90...0xA7 ~= third || third >= 0xB0
    case (0xE2, 0x81): return third <= 0x9E
    case (0xE2, 0x82): return third >= 0xA0
    // U+3000 to U+3029, U+3041 to U+3096, U+309B to U+30FF: kana without their combining marks.
    case (0xE3, 0x80): return third <= 0xA9
    case (0xE3, 0x81): return third >= 0x81
    case (0xE3, 0x82): return third <= 0x96 || third >= 0x9B
    case (0xE3, 0x83): return true
    // U+4E00 to U+9FFF.
    case (0xE4, 0xB8...0xBF), (0xE5...0xE9, _): return true
    // U+AC00 to U+D7A3.
    case (0xEA, 0xB0...0xBF), (0xEB...0xEC, _), (0xED, 0x80...0x9D): return true
    case (0xED, 0x9E): return third <= 0xA3
    // U+FF01 to U+FF7F.
    case (0xEF, 0xBC): return third >= 0x81
    case (0xEF, 0xBD): return true
    default: return false
    }
  }

  /// Whether this is UTF-8 in which no character is another spelling of one below U+0300.
  ///
  /// Other spellings have a combining mark below U+0370, or one of U+037E, U+0387, those behind U+1FBF,
  /// and the letterlike symbols, of which some are signs for letters.
  var spellsLatinOneWay: Bool {
    if Bytes.areASCII(self) { return true }
    var place = 0
    while place < count {
      let byte = self[place]
      place &+= 1
      if byte < 0x80 { continue }
      guard place < count else { return false }
      let second = self[place]
      // The second byte where the first has no such character, or a longer one than it needs.
      let seconds: ClosedRange<UInt8> =
        switch byte {
        case 0xE0: 0xA0...0xBF
        case 0xED: 0x80...0x9F
        case 0xF0: 0x90...0xBF
        case 0xF4: 0x80...0x8F
        default: 0x80...0xBF
        }
      guard seconds ~= second else { return false }
      switch (byte, second) {
      case (0xCC...0xCD, _), (0xCE, 0x87), (0xE1, 0xBF), (0xE2, 0x84): return false
      case (0xC2...0xDF, _): place &+= 1
      case (0xE0...0xEF, _):
        guard place &+ 1 < count, self[place &+ 1] & 0xC0 == 0x80 else { return false }
        place &+= 2
      case (0xF0...0xF4, _):
        guard place &+ 2 < count, self[place &+ 1] & 0xC0 == 0x80,
          self[place &+ 2] & 0xC0 == 0x80
        else { return false }
        place &+= 3
      default: return false
      }
    }
    return true
  }

  /// Whether there is a CR or an LF in it, which Swift counts as one character when they stand together.
  var hasBreak: Bool { contains { $0 == 0x0D || $0 == 0x0A } }
}
