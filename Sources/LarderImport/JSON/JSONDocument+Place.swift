extension JSONDocument {
  /// A member, and whether its value is the one that was looked for, or that one is further in.
  typealias Found = (member: JSONMember, isWhole: Bool)

  /// The member that holds the value at `field`: names of members and places in arrays, from the
  /// outermost on, between dots. Where the way ends before, the last member on it.
  func member(at field: String) -> Found? {
    Self.member(at: field[...], in: members)
  }

  private static func member(at path: Substring, in members: [JSONMember]) -> Found? {
    // A name may hold dots itself: the longest that fits is tried first.
    let candidates = members.filter { rest(of: path, behind: $0.name) != nil }
      .sorted { $0.name.utf8.count > $1.name.utf8.count }
    for member in candidates {
      guard let rest = rest(of: path, behind: member.name) else { continue }
      if rest.isEmpty { return (member, true) }
      if let inner = Self.member(at: rest, in: member.value) { return inner }
    }
    return candidates.first.map { ($0, false) }
  }

  private static func member(at path: Substring, in value: JSONValue) -> Found? {
    switch value {
    case .object(let members): return member(at: path, in: members)
    case .array(let elements):
      let step = path.prefix { $0 != "." }
      if let index = Int(step), elements.indices.contains(index) {
        let rest = path.dropFirst(step.count + 1)
        return rest.isEmpty ? nil : member(at: rest, in: elements[index])
      }
      // A catalogue's path has no places in arrays.
      for element in elements {
        if let found = member(at: path, in: element) { return found }
      }
      return nil
    default: return nil
    }
  }

  /// What follows `name` in a path that begins with it, or with it in quotes as a dictionary's key.
  private static func rest(of path: Substring, behind name: String) -> Substring? {
    for spelling in [name, "\"\(name)\""] {
      if path == spelling { return "" }
      if path.hasPrefix(spelling + ".") { return path.dropFirst(spelling.count + 1) }
    }
    return nil
  }
}

extension JSONValue {
  /// What the value is, with the value itself where it is short: `the string "third"`. Nil for one that holds
  /// others: what is refused may be one of its keys.
  var shortPhrase: String? {
    switch self {
    case .string(let text): "the string \(quoted(text))"
    case .integer(let number): "the integer \(number)"
    case .unsigned(let number): "the integer \(number)"
    case .double(let number): "the number \(number)"
    case .bool(let value): "\(value)"
    case .array, .object: nil
    default: phrase
    }
  }
}
