/// The names of the objects that are open, to tell a name that stands twice.
///
/// Names are compared by their UTF-8 bytes, never by canonical equivalence. An object with few
/// names is searched from end to end. One with more keeps a 128-bit fingerprint of each name,
/// from a hash whose key is random in each process: memory does not depend on how long names
/// are, no file can be made to collide, and two names that differ are taken for one with a
/// chance of less than one in 10^24 in an object of ten million.
struct MemberNames: Sendable {
  private var scopes: [Scope] = []

  /// The names of all open objects that are searched from end to end, innermost last.
  private var names: [String] = []

  private struct Scope {
    var firstIndex: Int
    var count = 0
    var fingerprints: Set<Fingerprint>?
  }

  private static let longestSearch = 16

  /// Begins an object inside the current one.
  mutating func open() {
    scopes.append(Scope(firstIndex: names.count))
  }

  /// Ends the current object and forgets its names.
  mutating func close() {
    let scope = scopes.removeLast()
    names.removeLast(names.count - scope.firstIndex)
  }

  /// How many names the current object has.
  var count: Int { scopes[scopes.count - 1].count }

  /// Notes a name of the current object; false when the object has it already.
  mutating func insert(_ name: String) -> Bool {
    let current = scopes.count - 1
    scopes[current].count += 1
    guard scopes[current].fingerprints == nil else {
      return insertFingerprint(of: name, into: current)
    }
    let first = scopes[current].firstIndex
    for index in first..<names.count where haveSameBytes(names[index], name) { return false }
    if names.count - first < Self.longestSearch {
      names.append(name)
      return true
    }
    scopes[current].fingerprints = Set(names[first...].map(Fingerprint.init))
    names.removeLast(names.count - first)
    return insertFingerprint(of: name, into: current)
  }

  private mutating func insertFingerprint(of name: String, into scope: Int) -> Bool {
    scopes[scope].fingerprints?.insert(Fingerprint(name)).inserted ?? false
  }
}

/// A name's bytes in 128 bits.
private struct Fingerprint: Hashable, Sendable {
  private let halves: (UInt64, UInt64)

  init(_ name: String) {
    halves = (Self.hash(name, salt: 0), Self.hash(name, salt: 1))
  }

  private static func hash(_ name: String, salt: UInt8) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(salt)
    let hashed: Void? = name.utf8.withContiguousStorageIfAvailable { bytes in
      hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    }
    if hashed == nil {
      for byte in name.utf8 { hasher.combine(byte) }
    }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  static func == (left: Fingerprint, right: Fingerprint) -> Bool {
    left.halves == right.halves
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(halves.0)
  }
}

/// Whether two strings have the same UTF-8; `==` would take NFC and NFD for one.
private func haveSameBytes(_ left: String, _ right: String) -> Bool {
  // Equal bytes are always equal strings, so the cheap comparison sorts out nearly all.
  left.utf8.count == right.utf8.count && left == right && left.utf8.elementsEqual(right.utf8)
}
