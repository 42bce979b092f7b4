internal import Foundation

extension String {
  /// This string in Unicode's normalisation form C, in which equal strings have equal bytes.
  @usableFromInline func normalized() -> String {
    // The first character that anything composes with is U+0300, whose first byte is CC.
    if utf8.allSatisfy({ $0 < 0xCC }) { return self }
    // Decomposed first: composing alone leaves a Hangul syllable and a final consonant behind it
    // apart, which `==` and the decomposed spelling make one. Tests hold Foundation's normaliser
    // to `==`.
    return decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping
  }
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
