/// The names of the open objects that ``NameTable`` has no room for, to tell a name that stands twice.
///
/// Names are compared by their UTF-8 bytes, never by canonical equivalence: by 128 bits from a hash
/// whose key is random in each process. So memory does not depend on how long names are, no file
/// can be made to collide, and two names that differ are taken for one with a chance of less than
/// one in 10^24 in an object of ten million.
struct SeenNames: Sendable {
  private var scopes: [Scope] = []

  /// Those of all open objects that are searched from end to end, innermost last.
  private var fingerprints: [NameFingerprint] = []

  private struct Scope {
    var firstIndex: Int
    var many: Set<NameFingerprint>?
  }

  private static let longestSearch = 16

  /// Begins an object inside the current one.
  mutating func open() {
    scopes.append(Scope(firstIndex: fingerprints.count))
  }

  /// Ends the current object and forgets its names.
  mutating func close() {
    let scope = scopes.removeLast()
    fingerprints.removeLast(fingerprints.count - scope.firstIndex)
  }

  /// Notes a name of the current object; false when the object has it already.
  mutating func insert(_ name: NameFingerprint) -> Bool {
    let current = scopes.count - 1
    guard scopes[current].many == nil else {
      return scopes[current].many?.insert(name).inserted ?? false
    }
    let first = scopes[current].firstIndex
    if fingerprints[first...].contains(name) { return false }
    if fingerprints.count - first < Self.longestSearch {
      fingerprints.append(name)
      return true
    }
    var many = Set(fingerprints[first...])
    many.insert(name)
    scopes[current].many = many
    fingerprints.removeLast(fingerprints.count - first)
    return true
  }

  mutating func removeAll() {
    scopes.removeAll(keepingCapacity: true)
    fingerprints.removeAll(keepingCapacity: true)
  }
}

/// A name's bytes in 128 bits.
struct NameFingerprint: Hashable, Sendable {
  private let halves: (UInt64, UInt64)

  init(_ name: UnsafeBufferPointer<UInt8>) {
    halves = (Self.hash(name, salt: 0), Self.hash(name, salt: 1))
  }

  private static func hash(_ name: UnsafeBufferPointer<UInt8>, salt: UInt8) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(salt)
    hasher.combine(bytes: UnsafeRawBufferPointer(name))
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  static func == (left: NameFingerprint, right: NameFingerprint) -> Bool {
    left.halves == right.halves
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(halves.0)
  }
}
