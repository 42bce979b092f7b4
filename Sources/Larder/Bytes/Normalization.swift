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
      var scalars = String.UnicodeScalarView()
      scalars.append(contentsOf: _nfc)
      return String(scalars)
    #endif
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
