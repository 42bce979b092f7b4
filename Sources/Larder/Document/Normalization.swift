internal import Foundation

extension String {
  /// This string in Unicode's normalisation form C, in which equal strings have equal bytes.
  @usableFromInline func normalized() -> String {
    // Decomposed first: composing alone leaves a Hangul syllable and a final consonant behind it
    // apart, which `==` and the decomposed spelling make one. Tests hold Foundation's normaliser
    // to `==`.
    decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping
  }
}
