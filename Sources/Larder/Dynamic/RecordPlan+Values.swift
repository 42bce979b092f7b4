// What stands on the tape is written by the plan.

extension RecordPlan {
  /// Writes the members of the object at an index as the fields of a record that was begun; false
  /// where one of them is not as the plan has it, and the record must be given up.
  mutating func putMembers(
    _ index: Int, _ tape: DocumentTape, document: Int, _ writer: inout RecordWriter,
    besides presentCount: Int = 0
  ) -> Bool {
    let count = tape.entries[index].count
    var present = presentCount
    var next = index &+ 1
    for _ in 0..<count {
      let member = member(next, tape.entries[next], tape, in: document)
      guard member.slot >= 0 else { return false }
      writer.beginValue(slot: Int(member.slot))
      if member.isRequired { present &+= 1 }
      next = put(next &+ 1, tape, node: Int(member.node), &writer)
      guard next > 0 else { return false }
    }
    return present == documents[document].requiredCount
  }

  /// Writes the value at an index; returns the index behind it, or -1 where it is not as the plan
  /// has it.
  mutating func put(
    _ index: Int, _ tape: DocumentTape, node number: Int, _ writer: inout RecordWriter
  ) -> Int {
    let node = nodes[number]
    let entry = tape.entries[index]
    switch entry.kind {
    case .string, .resolvedString:
      guard node.tokens.contains(.string) else { return -1 }
      switch node.form {
      case .string, .any:
        writer.put(utf8: tape.bytes(of: entry, isResolved: entry.kind == .resolvedString))
      case .text:
        guard put(text: index, tape, node, &writer) else { return -1 }
      default: return -1
      }
    case .integer:
      guard put(entry.integer, node, &writer) else { return -1 }
    case .double:
      // A decimal is made of what is written, and not of the double that is next to it.
      if node.form == .text, tape.isLong(doubleAt: index) { return -1 }
      let token: Tokens = entry.isMinusZero ? .minusZero : .double
      guard node.tokens.contains(token), put(entry.double, node, &writer) else { return -1 }
    case .unsigned:
      guard node.tokens.contains([.unsigned, .inexact]) else { return -1 }
      switch node.form {
      case .integer where node.width == .uint64: writer.put(entry.payload)
      case .any: writer.put(entry.payload)
      default: return -1
      }
    case .null:
      guard node.tokens.contains(.null) else { return -1 }
      writer.putNil()
    case .true, .false:
      guard node.tokens.contains(.bool), node.form == .bool || node.form == .any else { return -1 }
      writer.put(entry.kind == .true)
    case .array: return putArray(index, tape, node, &writer)
    case .object: return putObject(index, tape, node, &writer)
    case .value:
      guard let values = tape.values, put(own: values[Int(entry.payload)], node, &writer) else {
        return -1
      }
    case .number, .name, .resolvedName: return -1
    }
    return index &+ 1
  }

  // MARK: Numbers and text

  @inline(__always)
  private func put(_ number: Int64, _ node: Node, _ writer: inout RecordWriter) -> Bool {
    // Those within 53 bits are doubles as well.
    let isExact = number.magnitude <= 1 << 53
    guard node.tokens.contains(number < 0 ? .negative : .positive),
      isExact || node.tokens.contains(.inexact)
    else { return false }
    switch node.form {
    case .integer:
      guard node.width.holds(number) else { return false }
      writer.put(number)
    case .any: writer.put(number)
    case .double:
      guard isExact else { return false }
      writer.put(Double(number))
    case .float:
      guard let float = Float(exactly: number) else { return false }
      writer.put(float)
    case .text: return put(.integer(number), node, &writer)
    default: return false
    }
    return true
  }

  @inline(__always)
  private func put(_ number: Double, _ node: Node, _ writer: inout RecordWriter) -> Bool {
    switch node.form {
    case .double, .any: writer.put(number)
    case .float:
      guard let float = Float(exactly: number) else { return false }
      writer.put(float)
    case .text: return put(.double(number), node, &writer)
    default: return false
    }
    return true
  }

  @inline(never)
  private func put(
    text index: Int, _ tape: DocumentTape, _ node: Node, _ writer: inout RecordWriter
  ) -> Bool {
    let entry = tape.entries[index]
    let kind = kinds[Int(node.kind)].kind
    let reading = entry.isLiteral ? nil : kinds[Int(node.kind)].reading
    if kind == .date, reading == .date || reading == nil {
      // Whatever else may be read as a date is none in ISO 8601.
      let bytes = tape.bytes(of: entry, isResolved: entry.kind == .resolvedString)
      if let date = ISO8601.date(from: bytes) {
        writer.put(date)
        return true
      }
    }
    return put(value(of: tape.string(at: index), reading), node, &writer)
  }

  /// What text means where text is taken for a kind.
  func value(of text: String, _ reading: Kind<Int>?) -> Value {
    reading.flatMap { conversion.value(text, $0) } ?? .string(text)
  }

  private func put(_ value: Value, _ node: Node, _ writer: inout RecordWriter) -> Bool {
    guard let value = value.coerced(to: kinds[Int(node.kind)].kind) else { return false }
    writer.putNatural(value)
    return true
  }

  /// Writes a value that is of the kind that stands there already.
  private func put(own value: Value, _ node: Node, _ writer: inout RecordWriter) -> Bool {
    guard node.tokens.contains(.own) else { return false }
    if node.form == .any {
      writer.putNatural(value)
      return true
    }
    guard node.form == .text else { return false }
    switch (value, kinds[Int(node.kind)].kind) {
    case (.date(let date), .date): writer.put(date)
    case (.uuid(let id), .uuid): writer.put(id)
    case (.url, .url), (.data, .data), (.decimal, .decimal): writer.putNatural(value)
    default: return false
    }
    return true
  }

  // MARK: Arrays and objects

  private mutating func putArray(
    _ index: Int, _ tape: DocumentTape, _ node: Node, _ writer: inout RecordWriter
  ) -> Int {
    guard node.tokens.contains(.array) else { return -1 }
    let inner: Int
    switch node.form {
    case .array: inner = Int(node.inner)
    // Whatever is in what is of any kind is so, too.
    case .any: inner = Int(node.inner)
    default: return -1
    }
    let count = tape.entries[index].count
    writer.putArray(count: count)
    var next = index &+ 1
    for _ in 0..<count {
      next = put(next, tape, node: inner, &writer)
      guard next > 0 else { return -1 }
    }
    return next
  }

  private mutating func putObject(
    _ index: Int, _ tape: DocumentTape, _ node: Node, _ writer: inout RecordWriter
  ) -> Int {
    guard node.tokens.contains(.object) else { return -1 }
    let count = tape.entries[index].count
    if count == 1, isTag(index &+ 1, tape) { return -1 }
    switch node.form {
    case .document:
      guard writer.frame.depth < RecordFormat.maximumDepth else { return -1 }
      let document = Int(node.inner)
      met.append(
        MetObject(document: node.inner, memberCount: Int32(truncatingIfNeeded: count)))
      let outer = writer.begin(
        RecordWriter.Frame(
          table: documents[document].table, slotCount: documents[document].slotCount))
      guard putMembers(index, tape, document: document, &writer) else { return -1 }
      writer.endEmbedded(outer)
    case .dictionary, .any:
      guard putPairs(index, tape, values: Int(node.inner), &writer) else { return -1 }
    default: return -1
    }
    return tape.end(ofValueAt: index)
  }

  private mutating func putPairs(
    _ index: Int, _ tape: DocumentTape, values: Int, _ writer: inout RecordWriter
  ) -> Bool {
    let count = tape.entries[index].count
    writer.putMap(count: count)
    let start = writer.count
    var ends: [Int] = []
    ends.reserveCapacity(count)
    var next = index &+ 1
    for _ in 0..<count {
      let name = tape.entries[next]
      let bytes = tape.bytes(of: name, isResolved: name.kind == .resolvedName)
      // Others may be the same text in another normalisation.
      guard Bytes.areASCII(UnsafeRawBufferPointer(bytes)) else { return false }
      writer.put(utf8: bytes)
      next = put(next &+ 1, tape, node: values, &writer)
      guard next > 0 else { return false }
      ends.append(writer.count)
    }
    writer.sortItems(from: start, ends: ends)
    return true
  }

  /// Whether the name at an index may make a value of another kind of its object.
  @inline(__always)
  private func isTag(_ index: Int, _ tape: DocumentTape) -> Bool {
    let name = tape.entries[index]
    let bytes = tape.bytes(of: name, isResolved: name.kind == .resolvedName)
    guard bytes.first == UInt8(ascii: "$") else { return false }
    return conversion.isTag(tape.string(at: index))
  }
}

extension RecordWriter {
  /// Puts text that is UTF-8 already.
  @inline(__always)
  mutating func put(utf8 bytes: UnsafeBufferPointer<UInt8>) {
    if _slowPath(!putShortUTF8(bytes)) { putUTF8(bytes) }
  }
}
