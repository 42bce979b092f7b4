/// Finds the words of texts, as ``StandardTokenizer`` describes them, or another tokenizer. Used by one thread at a
/// time.
struct Words: ~Copyable {
  typealias Kind = SearchWord.Kind

  /// - Parameters:
  ///   - word: UTF-8, 1 to 64 bytes, none of them zero; valid until it returns.
  ///   - place: The bytes of the text that it was made of.
  typealias Body = (_ word: UnsafeRawBufferPointer, _ place: Range<Int>, _ kind: Kind) throws ->
    Void

  private let tokenizer: SearchTokenizer
  private let entries = UnicodeTables.shared.entries
  private let buffer = WordBuffer()
  private var word = Run()
  /// The last character of a script without spaces, and the one before it: ``buffer`` has that first.
  private var paired = Run()
  private var previous = Run()
  /// Whether a character came that is ignored if a letter follows.
  private var isInMiddle = false
  /// Whether the word is the first half of a flag.
  private var isHalfFlag = false

  private static let maximumByteCount = SearchLayout.maximumTermByteCount

  struct Run {
    var count = 0
    var start = 0
    var end = 0
    var place: Range<Int> { start..<end }
  }

  init(_ tokenizer: SearchTokenizer = .standard) { self.tokenizer = tokenizer }

  deinit { buffer.bytes.deallocate() }

  /// Lends each word of a text, in the order that the tokenizer gives them.
  ///
  /// Bytes that are not UTF-8 separate words.
  mutating func forEach(in text: UnsafeRawBufferPointer, _ body: Body) rethrows {
    guard let base = text.baseAddress, try !tokenizer.forEachWord(in: text, body) else { return }
    (word, paired, previous, isInMiddle) = (Run(), Run(), Run(), false)
    isHalfFlag = false
    var at = 0
    while at < text.count {
      let byte = base.load(fromByteOffset: at, as: UInt8.self)
      guard byte < 0x80 else {
        let (scalar, count) = UTF8Scalar.read(base + at, text.count - at)
        let place = at..<at + count
        if let scalar { try take(scalar, place, body) } else { try finish(body) }
        at += count
        continue
      }
      let folded = Self.folded(byte)
      if folded != 0 {
        if paired.count > 0 || isHalfFlag { try finish(body) }
        at = takeASCII(base, at, text.count)
      } else {
        if word.count > 0 || paired.count > 0 { try finish(body) }
        at += 1
      }
    }
    try finish(body)
  }

  /// Lends each word of one of the texts of a field, with its position among all of them. Behind a text a
  /// position is left out, so that no phrase reaches from one to the next.
  mutating func forEach(
    in text: UnsafeRawBufferPointer, from position: inout UInt32,
    _ body: (_ word: UnsafeRawBufferPointer, _ position: UInt32) -> Void
  ) {
    forEach(in: text) { word, _, _ in
      body(word, position)
      position &+= 1
    }
    position &+= 1
  }

  /// A letter in lower case, or a digit; 0 for other characters of ASCII.
  @inline(__always)
  private static func folded(_ byte: UInt8) -> UInt8 {
    let lower = byte | 0x20
    if lower &- 0x61 < 26 { return lower }
    return byte &- 0x30 < 10 ? byte : 0
  }

  /// Adds letters and digits of ASCII; returns where they end.
  @inline(__always)
  private mutating func takeASCII(_ base: UnsafeRawPointer, _ start: Int, _ end: Int) -> Int {
    var (at, count) = (start, word.count)
    if count == 0 { word.start = start }
    while at < end {
      let folded = Self.folded(base.load(fromByteOffset: at, as: UInt8.self))
      guard folded != 0 else { break }
      if count < Self.maximumByteCount {
        buffer.bytes[count] = folded
        count += 1
      }
      at += 1
    }
    word.count = count
    word.end = at
    isInMiddle = false
    return at
  }

  private mutating func finish(_ body: Body) rethrows {
    if word.count > 0 {
      try body(buffer[0, word.count], word.place, .word)
      word.count = 0
    }
    isInMiddle = false
    isHalfFlag = false
    guard paired.count > 0 else { return }
    try lendPair(body)
    try body(buffer[previous.count, paired.count], paired.place, .tail)
    paired.count = 0
    previous.count = 0
  }

  private func lendPair(_ body: Body) rethrows {
    guard previous.count > 0 else { return }
    try body(
      buffer[0, previous.count + paired.count], previous.start..<paired.end, .pair)
  }
}

// MARK: Other characters than those of ASCII

extension Words {
  private mutating func take(_ scalar: UInt32, _ place: Range<Int>, _ body: Body) rethrows {
    let entry = entries[scalar]
    if entry.isItsOwnForm { return try take(scalar, entry.kind, place, body) }
    for part in UnicodeTables.shared.form(entry) {
      try take(part, entries[part].kind, place, body)
    }
  }

  private mutating func take(
    _ scalar: UInt32, _ kind: UnicodeTables.Kind, _ place: Range<Int>, _ body: Body
  ) rethrows {
    if isHalfFlag, kind != .ignored, !Self.flagLetters.contains(scalar) { try finish(body) }
    switch kind {
    case .separator: try finish(body)
    case .letter:
      if paired.count > 0 { try finish(body) }
      appendToWord(scalar, place)
    case .paired:
      if word.count > 0 { try finish(body) }
      try beginPaired(scalar, place, body)
    case .mark:
      if paired.count > 0 {
        buffer.append(mark: scalar, behind: previous.count, to: &paired, Self.maximumByteCount / 2)
        paired.end = place.upperBound
      } else {
        if word.count == 0 { word.start = place.lowerBound }
        buffer.append(mark: scalar, behind: 0, to: &word, Self.maximumByteCount)
        word.end = place.upperBound
        isInMiddle = false
      }
    case .ignored:
      if paired.count > 0 { paired.end = place.upperBound }
      if word.count > 0, !isInMiddle { word.end = place.upperBound }
    case .symbol where isHalfFlag:
      appendToWord(scalar, place)
      try finish(body)
    case .symbol:
      try finish(body)
      appendToWord(scalar, place)
      if Self.flagLetters.contains(scalar) { isHalfFlag = true } else { try finish(body) }
    case .middle:
      if word.count > 0, !isInMiddle { isInMiddle = true } else { try finish(body) }
    }
  }

  /// Two of them make a flag (UAX #29, GB12 and GB13).
  private static let flagLetters: ClosedRange<UInt32> = 0x1F1E6...0x1F1FF

  /// Whether a text is one character that is ignored within a word, such as the dot of `paral·lel`.
  static func isMiddle(_ text: ArraySlice<UInt8>) -> Bool {
    let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
    guard scalars.count == 1, let scalar = scalars.first?.value else { return false }
    let tables = UnicodeTables.shared
    let entry = tables.entries[scalar]
    if entry.isItsOwnForm { return entry.kind == .middle }
    return tables.form(entry).allSatisfy { tables.entries[$0].kind == .middle }
  }

  private mutating func appendToWord(_ scalar: UInt32, _ place: Range<Int>) {
    if word.count == 0 { word.start = place.lowerBound }
    buffer.append(scalar, behind: 0, to: &word, Self.maximumByteCount)
    word.end = place.upperBound
    isInMiddle = false
  }

  private mutating func beginPaired(_ scalar: UInt32, _ place: Range<Int>, _ body: Body) rethrows {
    if paired.count > 0 {
      try lendPair(body)
      if previous.count > 0 {
        buffer.bytes.update(from: buffer.bytes + previous.count, count: paired.count)
      }
      previous = paired
    }
    paired = Run(count: 0, start: place.lowerBound, end: place.upperBound)
    buffer.append(scalar, behind: previous.count, to: &paired, Self.maximumByteCount / 2)
  }
}
