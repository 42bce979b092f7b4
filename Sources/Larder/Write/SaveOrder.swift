/// The order that many models are saved in: that of their keys, and of equal ones that in which they
/// were given, so that the last one wins.
@usableFromInline struct SaveOrder {
  /// The places of the models; nil where they are taken as they were given.
  private let places: [Int32]?
  /// Places in this order whose key is the one before them: no piece begins there.
  private let repeated: Set<Int>
  /// Whether all of it is one piece.
  private let isWhole: Bool

  /// As they were given, all at once.
  @usableFromInline static var given: Self { Self(places: nil, repeated: [], isWhole: true) }

  private init(places: [Int32]?, repeated: Set<Int>, isWhole: Bool) {
    (self.places, self.repeated, self.isWhole) = (places, repeated, isWhole)
  }

  /// - Parameter withKey: Lends the encoded key of the model at a place.
  @inlinable @inline(__always) init(
    count: Int, _ withKey: (_ place: Int, (UnsafeRawBufferPointer) -> Void) -> Void
  ) {
    if Batch.areAscending(count: count, withKey) {
      self = .ascending
    } else {
      self.init(sorting: count, withKey)
    }
  }

  @usableFromInline static var ascending: Self { Self(places: nil, repeated: [], isWhole: false) }

  @usableFromInline init(
    sorting count: Int, _ withKey: (_ place: Int, (UnsafeRawBufferPointer) -> Void) -> Void
  ) {
    var keys = KeyList()
    var isValid = true
    for place in 0..<count {
      withKey(place) { key in
        isValid = isValid && !key.isEmpty
        keys.append(key)
      }
    }
    guard isValid else {
      // A key that cannot be stored is refused where it is encoded.
      self = .given
      return
    }
    var places: [Int32] = []
    var repeated: Set<Int> = []
    places.reserveCapacity(count)
    keys.forEachSorted { place, isRepeated in
      if isRepeated { repeated.insert(places.count) }
      places.append(Int32(truncatingIfNeeded: place))
    }
    self.init(places: places, repeated: repeated, isWhole: false)
  }

  /// The place of the model that comes at this place of the order.
  @usableFromInline subscript(place: Int) -> Int { places.map { Int($0[place]) } ?? place }

  /// Where the piece ends that begins here.
  @usableFromInline func end(ofPieceFrom start: Int, count: Int) -> Int {
    if isWhole { return count }
    var end = min(start + Batch.pieceCount, count)
    while repeated.contains(end) { end += 1 }
    return end
  }
}
