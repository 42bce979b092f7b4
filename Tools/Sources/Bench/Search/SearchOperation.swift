/// The operations of `bench search`; the raw value is the name in reports.
enum SearchOperation: String, CaseIterable {
  /// Texts that are stored already get their index.
  case build = "index-existing"
  /// Texts are saved by the thousand, the index with them.
  case save = "save-by-1000"
  /// Bytes of the index that was made at once.
  case size = "index-size"
  /// Bytes of the index that saves have made, when it is at rest.
  case savedSize = "index-size-after-saves"

  /// The best twenty texts with a word that one text of twenty has.
  case frequentWord = "frequent-word"
  /// The same of a word that fewer have, down to one of two hundred.
  case usualWord = "usual-word"
  /// The same of a word that two to five have.
  case rareWord = "rare-word"
  /// The same of the first three letters of frequent and usual words.
  case prefix = "prefix-of-three"
  /// The same of a frequent and a usual word.
  case twoWords = "two-words"
  case twoFrequentWords = "two-frequent-words"
  /// Two words behind one another.
  case phrase

  /// One text is replaced, durably.
  case durableSave = "replace-one-durably"
  /// Bytes that replacing one text writes to files, what is merged later included.
  case written = "replace-one-writes"

  /// How much later the consumer of a watched search hears of a text than an unwatched save returns.
  case watch = "watched-search"
  /// The same of the best twenty texts with a frequent word.
  case watchBest = "watched-best-twenty"

  var unit: Measurement.Unit { [.size, .savedSize, .written].contains(self) ? .bytes : .seconds }

  static let building: [SearchOperation] = [.build, .save, .size, .savedSize]
  static let queries: [SearchOperation] = [
    .frequentWord, .usualWord, .rareWord, .prefix, .twoWords, .twoFrequentWords, .phrase,
  ]

  static let watching: [SearchOperation] = [.watch, .watchBest]
  static let replacing: [SearchOperation] = [.durableSave, .written]

  /// The figures that Larder should reach. Those for frequent words and prefixes are meant for 200,000 texts and
  /// more, of which such words are in 10,000 or more.
  func marks(_ medians: [SearchEngine: Double]) -> [Mark] {
    switch self {
    case .build, .save: ratio(medians, 1 / 0.6, to: .fts5)
    case .size, .savedSize: ratio(medians, 1.15, to: .fts5)
    case .frequentWord: ratio(medians, 0.05, to: .fts5)
    case .usualWord: []
    case .rareWord, .phrase: ratio(medians, 1, to: .fts5)
    case .prefix: ratio(medians, 0.1, to: .fts5)
    case .twoWords, .twoFrequentWords: ratio(medians, 0.5, to: .fts5)
    case .durableSave: ratio(medians, 1.3, to: .larderPlain)
    case .written: difference(medians, 24 * 1024)
    case .watch, .watchBest: limit(medians, 100e-6)
    }
  }

  private func ratio(
    _ medians: [SearchEngine: Double], _ most: Double, to engine: SearchEngine
  ) -> [Mark] {
    guard let larder = medians[.larder], let other = medians[engine], other > 0 else { return [] }
    return [Mark.ratio(most, of: larder, to: other, engine.rawValue)]
  }

  private func difference(_ medians: [SearchEngine: Double], _ most: Double) -> [Mark] {
    guard let larder = medians[.larder], let plain = medians[.larderPlain] else { return [] }
    let text =
      "\(Report.text(larder - plain, unit)) of \(Report.text(most, unit)) more than without"
    return [Mark(text: text, part: (larder - plain) / most)]
  }

  private func limit(_ medians: [SearchEngine: Double], _ most: Double) -> [Mark] {
    guard let larder = medians[.larder] else { return [] }
    return [
      Mark(text: "\(Report.text(larder, unit)) of \(Report.text(most, unit))", part: larder / most)
    ]
  }
}

enum SearchEngine: String, CaseIterable {
  case larder
  case larderPlain = "larder-plain"
  case fts5 = "sqlite-fts5"
  case sqlitePlain = "sqlite-plain"
}
