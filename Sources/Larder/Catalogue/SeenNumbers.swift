/// The numbers that were seen in one place.
struct SeenNumbers: Sendable {
  /// Integers that `Int64` holds.
  private(set) var hasSigned = false
  /// Integers above `Int64.max`, or a field for them.
  private(set) var hasUnsigned = false
  private(set) var hasNegative = false
  private(set) var hasDouble = false
  /// Integers that no double is equal to.
  private(set) var hasInexact = false
  /// Whether the field is stored as one of `Int64`, and so may have negative numbers.
  private var isStoredSigned = false
  /// Whether the field is stored as one of `UInt64`, and so may have numbers that no double is equal to.
  private var isStoredUnsigned = false

  /// - Parameter stored: The kind that such numbers have had before.
  init(stored: Kind<Int>?) {
    if case .integer(.uint64)? = stored { (hasUnsigned, isStoredUnsigned) = (true, true) }
    if case .integer(.int64)? = stored { isStoredSigned = true }
  }

  var kind: Kind<Int> {
    if hasDouble || needsDouble { return .double }
    return .integer(hasUnsigned ? .uint64 : .int64)
  }

  /// Whether no kind of integers holds them all.
  private var needsDouble: Bool {
    if isExact || isStoredSigned || isStoredUnsigned {
      return hasUnsigned && (hasNegative || isStoredSigned)
    }
    return hasSigned && hasUnsigned
  }

  /// Whether the numbers were added by a policy that changes none.
  private var isExact = false

  /// Names what the place holds, for the error about a number that does not fit in.
  var expectation: String {
    hasInexact && !hasDouble
      ? "\(kind), among which are integers that no double is equal to" : "\(kind)"
  }

  /// Takes a number in; false, and nothing changes, where no kind holds it together with the others.
  mutating func add(_ value: Value, _ policy: Inference.Policy) -> Bool {
    var numbers = self
    numbers.isExact = policy.isExact
    switch value {
    case .integer(let number):
      numbers.hasSigned = true
      numbers.hasNegative = hasNegative || number < 0
      numbers.hasInexact = hasInexact || Double(exactly: number) == nil
    case .unsigned(let number):
      numbers.hasUnsigned = true
      numbers.hasInexact = hasInexact || Double(exactly: number) == nil
    // -0.0, too: no integer has its sign.
    case .double: numbers.hasDouble = true
    default: return false
    }
    guard numbers.isSound else { return false }
    self = numbers
    return true
  }

  /// The numbers of both places; nil where no kind holds them.
  func joined(with other: SeenNumbers) -> SeenNumbers? {
    var numbers = self
    numbers.hasSigned = hasSigned || other.hasSigned
    numbers.hasUnsigned = hasUnsigned || other.hasUnsigned
    numbers.hasNegative = hasNegative || other.hasNegative
    numbers.hasDouble = hasDouble || other.hasDouble
    numbers.hasInexact = hasInexact || other.hasInexact
    numbers.isStoredSigned = isStoredSigned || other.isStoredSigned
    numbers.isStoredUnsigned = isStoredUnsigned || other.isStoredUnsigned
    return numbers.isSound ? numbers : nil
  }

  private var isSound: Bool {
    if isExact { return !(hasDouble && hasInexact) && (hasDouble || !needsDouble) }
    // Of those that are stored, whoever declares the kind finds out which have no equal double.
    let isStored = isStoredSigned || isStoredUnsigned
    return !(isStored && needsDouble && hasInexact)
  }
}
