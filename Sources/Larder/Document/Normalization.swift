internal import Foundation

extension String {
  /// This string in Unicode's normalisation form C, in which equal strings have equal bytes.
  @usableFromInline func normalized() -> String {
    // Foundation's normaliser and the one behind `==` agree on every scalar of this toolchain;
    // a test holds them to it.
    precomposedStringWithCanonicalMapping
  }
}
