/// The words of some documents, collected in memory: what becomes a pending change, or a segment.
///
/// Words are numbered by a hash table of their bytes. Each document's words are first linked by
/// number, so that its postings are made in one pass without sorting.
struct SearchBatch {
  /// The weight of the words of each field, 1 to 100.
  let weights: [UInt32]
  let coding: PositionCoding

  private var words = WordTable()
  /// The place of the last occurrence of each word in the document that is being read; -1 for none.
  private var lastPlaces: [Int32] = []
  private var firstPlaces: [Int32] = []
  private var occurrences: [Occurrence] = []
  private var touched: [Int32] = []
  private var length: UInt64 = 0

  private(set) var postings: [Posting] = []
  private var positions: [UInt8] = []
  private(set) var documents: [SearchDocument] = []
  /// For each document, where its postings end.
  private var ends: [Int] = []

  private struct Occurrence {
    var field: UInt32
    var position: UInt32
    var next: Int32
  }

  struct Posting {
    var word: Int32
    /// Its place in ``SearchBatch/documents``.
    var document: UInt32
    var frequency: UInt32
    var positionStart: UInt32
    var positionCount: UInt32
  }

  init(weights: [UInt32]) {
    self.weights = weights
    coding = PositionCoding(fieldCount: weights.count)
  }

  var byteCount: Int {
    postings.count * MemoryLayout<Posting>.stride + positions.count + words.byteCount
  }

  /// About as many bytes as pending records of it take.
  var byteCountOfPostings: Int { 8 * postings.count + positions.count }

  mutating func removeAll() {
    words.removeAll()
    lastPlaces.removeAll(keepingCapacity: true)
    firstPlaces.removeAll(keepingCapacity: true)
    postings.removeAll(keepingCapacity: true)
    positions.removeAll(keepingCapacity: true)
    documents.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  /// Adds a word to the document that ``endDocument(key:)`` ends. Words of a field come in the order of
  /// their positions, fields in theirs.
  ///
  /// - Parameter term: At most ``SearchLayout/maximumTermByteCount`` bytes, none of them zero.
  @inline(__always)
  mutating func add(_ term: UnsafeRawBufferPointer, field: Int, position: UInt32) {
    assert(1...SearchLayout.maximumTermByteCount ~= term.count)
    let word = number(of: term)
    let place = Int32(truncatingIfNeeded: occurrences.count)
    occurrences.append(
      Occurrence(field: UInt32(truncatingIfNeeded: field), position: position, next: -1))
    let last = lastPlaces[word]
    if last < 0 {
      firstPlaces[word] = place
      touched.append(Int32(truncatingIfNeeded: word))
    } else {
      occurrences[Int(last)].next = place
    }
    lastPlaces[word] = place
    length += UInt64(weights[field])
  }

  @inline(__always)
  private mutating func number(of term: UnsafeRawBufferPointer) -> Int {
    let word = words.number(of: term)
    if word == lastPlaces.count {
      lastPlaces.append(-1)
      firstPlaces.append(-1)
    }
    return word
  }

  /// Whether the document that was read has no word.
  var documentIsEmpty: Bool { occurrences.isEmpty }

  /// A word of the document that ``endDocument(key:length:)`` ends, from a pending change.
  mutating func addPosting(
    _ term: UnsafeRawBufferPointer, frequency: UInt32, positions: UnsafeRawBufferPointer
  ) {
    let word = number(of: term)
    postings.append(
      Posting(
        word: Int32(truncatingIfNeeded: word),
        document: UInt32(truncatingIfNeeded: documents.count),
        frequency: frequency, positionStart: UInt32(truncatingIfNeeded: self.positions.count),
        positionCount: UInt32(truncatingIfNeeded: positions.count)))
    self.positions.append(contentsOf: positions)
  }

  mutating func endDocument(key: UnsafeRawBufferPointer, length: UInt32) {
    documents.append(SearchDocument(key: [UInt8](key), length: length))
    ends.append(postings.count)
  }

  /// Ends a document, whose words were added one by one.
  mutating func endDocument(key: UnsafeRawBufferPointer) {
    for word in touched {
      let start = positions.count
      let frequency = encodePositions(of: Int(word))
      postings.append(
        Posting(
          word: word, document: UInt32(truncatingIfNeeded: documents.count), frequency: frequency,
          positionStart: UInt32(truncatingIfNeeded: start),
          positionCount: UInt32(truncatingIfNeeded: positions.count - start)))
      lastPlaces[Int(word)] = -1
    }
    endDocument(key: key, length: UInt32(clamping: length))
    touched.removeAll(keepingCapacity: true)
    occurrences.removeAll(keepingCapacity: true)
    length = 0
  }

  private mutating func encodePositions(of word: Int) -> UInt32 {
    var encoder = PositionCoding.Encoder()
    var frequency: UInt32 = 0
    var place = firstPlaces[word]
    while place >= 0 {
      let occurrence = occurrences[Int(place)]
      frequency &+= weights[Int(occurrence.field)]
      encoder.put(
        occurrence.field, occurrence.position, isLast: occurrence.next < 0, coding, into: &positions
      )
      place = occurrence.next
    }
    return frequency
  }

  /// The postings of one document.
  func postings(of document: Int) -> ArraySlice<Posting> {
    postings[(document == 0 ? 0 : ends[document - 1])..<ends[document]]
  }

  func positions(of posting: Posting) -> ArraySlice<UInt8> {
    let start = Int(posting.positionStart)
    return positions[start..<start + Int(posting.positionCount)]
  }

  func term(_ word: Int32) -> UnsafeRawBufferPointer { words[Int(word)] }

  /// Writes the postings in the order of their terms, those of a term in the order of their ids.
  ///
  /// - Parameter ids: Of the documents, ascending; nil for documents that are not written.
  func writeSegment(to writer: inout SegmentWriter, ids: [UInt32?]) {
    guard !postings.isEmpty else { return writer.finish() }
    let sorted = KeySort.sorted(count: words.count) { words[$0] }
    // Counted per term, then put where the terms before leave off.
    var starts = [Int32](repeating: 0, count: words.count + 1)
    for posting in postings { starts[Int(posting.word)] += 1 }
    var next: Int32 = 0
    for item in sorted {
      let count = starts[Int(item.place)]
      starts[Int(item.place)] = next
      next += count
    }
    var order = [Int32](repeating: 0, count: postings.count)
    for (place, posting) in postings.enumerated() {
      order[Int(starts[Int(posting.word)])] = Int32(truncatingIfNeeded: place)
      starts[Int(posting.word)] += 1
    }
    positions.withUnsafeBytes { positions in
      var place = 0
      for item in sorted {
        let end = Int(starts[Int(item.place)])
        guard place < end else { continue }
        writer.begin(item.key)
        while place < end {
          let posting = postings[Int(order[place])]
          place += 1
          guard let id = ids[Int(posting.document)] else { continue }
          let start = Int(posting.positionStart)
          writer.add(
            id, frequency: posting.frequency,
            positions: UnsafeRawBufferPointer(
              rebasing: positions[start..<start + Int(posting.positionCount)]))
        }
        writer.endTerm()
      }
    }
    writer.finish()
  }
}
