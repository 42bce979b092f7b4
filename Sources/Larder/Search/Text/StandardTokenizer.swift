/// What is a word, and which words are the same: the same on every system, by tables of the project's own.
///
/// **Words** are runs of letters, digits and marks; everything else separates them. That is Unicode's rule
/// (UAX #29, "Unicode Text Segmentation", WB4 to WB13) without the characters that it allows inside words:
/// `don't` is `don` and `t`, as `l'homme` must be found by `homme`; addresses (`ann@example.org`), URLs,
/// versions and names with underscores are found by their parts. What a person types is taken apart in the
/// same way, and its parts must then stand behind one another, so that `don't` finds `don't`. Soft hyphens,
/// joiners and other format characters are ignored. Emoji are words of their own, and so are flags; signs
/// of text such as `©` and `™` are none.
///
/// **Scripts without spaces** (Chinese, Japanese and Korean; Thai, Lao, Khmer, Burmese and others that
/// Unicode's line breaking calls complex) give overlapping pairs of characters with their marks, and at the
/// end of a run its last character: `東京都` is `東京`, `京都` and `都`. So each character begins one word,
/// and a single one is found by the words that begin with it.
///
/// **The same** are words with the same letters after compatibility decomposition (NFKD, UAX #15), full case
/// folding (`CaseFolding.txt`), and without marks in scripts that are read without them: Latin, Greek,
/// Cyrillic, Hebrew, Arabic and Syriac; one of these marks is the iota subscript of Greek, which case folding alone
/// would make a letter. `Ångström` is `angstrom`, `ﬁne` is `fine`, `STRASSE` is `straße`;
/// also `ø`, `đ`, `ł` and other letters with a stroke are as without it, `æ` and `œ` are two letters, and
/// Turkish `ı` is `i`. Vowel signs of Indic and other scripts, and the voicing of kana, stay. Digits of all
/// scripts are those of ASCII. Words end after 64 bytes of UTF-8.
public struct StandardTokenizer: Tokenizer {
  /// Its name and version. A newer version of Larder may have another one.
  public var identifier: String { "standard.2" }

  /// The tokenizer of all search indexes that name no other.
  public init() {}

  /// The words of a text, in the order in which they begin.
  public func words(in text: String) -> [SearchWord] {
    var text = text
    var found: [SearchWord] = []
    var words = Words()
    text.withUTF8 { text in
      words.forEach(in: UnsafeRawBufferPointer(text)) { word, place, kind in
        found.append(
          SearchWord(String(decoding: word, as: UTF8.self), utf8Range: place, kind: kind))
      }
    }
    return found
  }
}
