extension JSONReader {
  /// The whole value that `event`, the latest, begins.
  ///
  /// Goes as deep as values are nested, which the reader limits.
  mutating func value(beginningWith event: JSONEvent) throws(ImportError) -> JSONValue {
    switch event {
    case .scalar(let value): return value
    case .beginArray: return .array(try elements())
    case .beginObject: return .object(try members())
    case .name, .endObject, .endArray:
      preconditionFailure("a value begins with a scalar or an opening bracket")
    }
  }

  /// The elements of the array that was just begun, to its end.
  private mutating func elements() throws(ImportError) -> [JSONValue] {
    var elements: [JSONValue] = []
    while let event = try next(), event != .endArray {
      elements.append(try value(beginningWith: event))
    }
    return elements
  }

  /// The members of the object that was just begun, or the rest of them, to its end.
  mutating func members(after first: [JSONMember] = []) throws(ImportError) -> [JSONMember] {
    var members = first
    while case .name(let name) = try next() {
      members.append(try member(named: name))
    }
    return members
  }

  /// The member whose name was just read.
  mutating func member(named name: String) throws(ImportError) -> JSONMember {
    guard let event = try next() else { preconditionFailure("a name is followed by a value") }
    let position = position
    return JSONMember(
      name: name, value: try value(beginningWith: event), position: position)
  }
}

extension JSONValue {
  /// Reads a source that holds one value, whole.
  ///
  /// - Throws: ``ImportError`` for input that is refused or cannot be read.
  package init(
    readingFrom source: consuming ByteSource, limits: JSONLimits = JSONLimits()
  ) throws(ImportError) {
    var reader = JSONReader(source, limits: limits)
    guard let event = try reader.next() else { preconditionFailure("a reader begins with a value") }
    self = try reader.value(beginningWith: event)
    _ = try reader.next()
  }
}
