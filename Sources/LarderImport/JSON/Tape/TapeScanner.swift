internal import Larder

/// Turns the bytes of one document into a ``JSONTape``.
///
/// It works token by token and keeps what is open in an array of its own, so that it can stop
/// before a token that is not yet in sight as a whole, and depth costs no stack. It knows nothing of
/// sources, lines or columns: a fault is a place among the bytes.
///
/// Strings are looked at in words of eight bytes. Measured on one busy core of an EPYC, best of
/// three in turns, in MB/s of 100 MB of contacts (NDJSON), and of long texts not in ASCII: words 476
/// and 494, byte by byte 372 and 354, `SIMD16` with `any(_:)` 53 and 25, for Swift has no way to
/// a bit mask of a vector, which a structural index (Langdale and Lemire 2019) is made of. The
/// reader before it, by events and trees, 62; simdjson 3.0 with AVX2, to its DOM, 429;
/// `json.loads` of Python 31.
struct TapeScanner: ~Copyable, Sendable {
  var tape = JSONTape()
  var names = NameTable()
  private var seen = SeenNames()

  let limits: JSONLimits
  /// How many arrays and objects may be inside one another.
  var mostContainers: Int
  /// How many members an object may have.
  var mostMembers: Int

  private(set) var state = State.value
  /// The next byte to look at, counted from the beginning of the document.
  private(set) var next = 0

  private var current = Container.outside
  private var open = Slab<Container>(capacity: 8, filler: .outside)

  /// What may come next.
  enum State: UInt8 {
    /// Behind the `:` of a member, behind `[` or a `,` in an array, or at the beginning.
    case value
    /// Just behind `[` or `{`.
    case opened
    /// Behind a `,` in an object.
    case name
    /// Behind a name.
    case colon
    /// Behind a value inside an array or object.
    case afterValue
    /// Behind the outermost value.
    case end
  }

  /// An array or object that is open.
  private struct Container: BitwiseCopyable, Sendable {
    /// Its entry on the tape.
    var entry: Int32
    var isObject: Bool
    /// Elements or members so far.
    var count: UInt32
    /// What an element adds to `count`; a member adds to it by its name.
    var step: UInt32
    /// In an object the node of the latest name, or none where names are in ``SeenNames``; in an
    /// array that of the member that it is in.
    var node: Int32

    static let outside = Container(
      entry: -1, isObject: false, count: 0, step: 0, node: Int32(NameTable.root))
  }

  /// Where scanning stopped.
  enum Outcome {
    case done
    /// Before a token that the end of the bytes cuts.
    case cut
    case fault(JSONFault)
  }

  init(limits: JSONLimits) {
    self.limits = limits
    mostContainers = limits.depth
    mostMembers = limits.memberCount
  }

  /// Begins a document, or with `state` a member that stands in no object on the tape.
  mutating func begin(_ state: State = .value) {
    tape.clear()
    names.renewIfWornOut()
    seen.removeAll()
    open.count = 0
    current = .outside
    self.state = state
    next = 0
  }

  /// Scans on from ``next``.
  ///
  /// - Parameters:
  ///   - text: The bytes from the document's beginning on, with a margin of 16 behind `end`.
  ///   - isFinal: Whether no more will come behind `end`.
  ///   - linesEnd: Whether a line feed is no white space.
  ///   - stopsAtName: Whether to stop behind the first name.
  mutating func scan(
    _ text: TextBytes, to end: Int, isFinal: Bool, linesEnd: Bool, stopsAtName: Bool = false
  ) -> Outcome {
    // In variables of its own: behind every store through an address, what is in `self` would be
    // read again.
    var index = next
    var state = state
    var current = current
    var tape = TapeEnd(self.tape.entries)
    var nodes = names.nodes.base
    var nameBytes = names.bytes.base
    let mostMembers = mostMembers
    var outcome = Outcome.cut

    scanning: while true {
      if state == .end {
        outcome = .done
        break scanning
      }
      while index < end, text[index] <= 0x20 {
        guard isWhiteSpace(text[index], linesEnd: linesEnd) else { break }
        index &+= 1
      }
      guard index < end else {
        if isFinal { outcome = .fault(.unexpected(expectation(state, current.isObject))) }
        break scanning
      }
      if tape.isFull {
        self.tape.entries.count = tape.count
        self.tape.entries.reserve(1)
        tape = TapeEnd(self.tape.entries)
      }
      let byte = text[index]
      switch state {
      case .afterValue:
        if byte == UInt8(ascii: ",") {
          index &+= 1
          state = current.isObject ? .name : .value
          continue scanning
        }
        guard byte == (current.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
          outcome = .fault(.unexpected(current.isObject ? .commaOrBrace : .commaOrBracket))
          break scanning
        }
        index &+= 1
        tape.close(Int(current.entry), count: current.count)
        state = close(&current)

      case .opened:
        guard byte == (current.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
          state = current.isObject ? .name : .value
          continue scanning
        }
        index &+= 1
        tape.close(Int(current.entry), count: current.count)
        state = close(&current)

      case .name:
        guard byte == UInt8(ascii: "\"") else {
          outcome = .fault(.unexpected(.name))
          break scanning
        }
        guard Int(current.count) < mostMembers else {
          outcome = .fault(.tooManyMembers)
          break scanning
        }
        // The name that came here before.
        let likely = Int(nodes[Int(current.node)].likely)
        let count = Int(nodes[likely].count)
        if count &+ 2 <= end &- index, text[index &+ 1 &+ count] == UInt8(ascii: "\""),
          (text + (index &+ 1)).hasSameBytes(as: nameBytes + Int(nodes[likely].start), count)
        {
          tape.append(
            .name, at: index, from: index &+ 1, count: count, name: Int(nodes[likely].name))
          current.node = Int32(truncatingIfNeeded: likely)
          current.count &+= 1
          index = index &+ count &+ 2
          state = .colon
          if stopsAtName {
            outcome = .done
            break scanning
          }
          // What nearly always comes next is not worth a turn of its own.
          if index < end, text[index] == UInt8(ascii: ":") {
            index &+= 1
            state = .value
          }
          continue scanning
        }
        let name: UnsafeBufferPointer<UInt8>
        let behind: Int
        switch string(text, index, end, isFinal: isFinal) {
        case .cut: break scanning
        case .fault(let fault, let place):
          index = place
          outcome = .fault(fault)
          break scanning
        case .plain(let quote):
          name = .init(start: text + (index &+ 1), count: quote &- index &- 1)
          tape.append(.name, at: index, from: index &+ 1, count: name.count)
          behind = quote &+ 1
        case .resolved(let start, let count, let end):
          name = .init(start: self.tape.resolved.base + start, count: count)
          tape.append(.resolvedName, at: index, from: start, count: count)
          behind = end
        }
        let number = add(name, &current)
        nodes = names.nodes.base
        nameBytes = names.bytes.base
        guard number >= 0 else {
          outcome = .fault(.duplicateName)
          break scanning
        }
        tape.setName(number)
        current.count &+= 1
        index = behind
        state = .colon
        if stopsAtName {
          outcome = .done
          break scanning
        }

      case .colon:
        guard byte == UInt8(ascii: ":") else {
          outcome = .fault(.unexpected(.colon))
          break scanning
        }
        index &+= 1
        state = .value

      case .value:
        switch byte {
        case UInt8(ascii: "\""):
          switch string(text, index, end, isFinal: isFinal) {
          case .cut: break scanning
          case .fault(let fault, let place):
            index = place
            outcome = .fault(fault)
            break scanning
          case .plain(let quote):
            tape.append(.string, at: index, from: index &+ 1, count: quote &- index &- 1)
            index = quote &+ 1
          case .resolved(let start, let count, let behind):
            tape.append(.resolvedString, at: index, from: start, count: count)
            index = behind
          }
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
          switch number(text, index, end, isFinal: isFinal) {
          case .cut: break scanning
          case .fault(let fault, let place):
            index = place
            outcome = .fault(fault)
            break scanning
          case .number(let kind, let payload, let behind):
            // The only double in two bytes is `-0`.
            let isMinusZero = kind == .double && behind &- index == 2
            tape.append(kind, at: index, payload, name: isMinusZero ? 1 : 0)
            index = behind
          }
        case UInt8(ascii: "{"), UInt8(ascii: "["):
          guard open.count < mostContainers else {
            outcome = .fault(.tooDeep)
            break scanning
          }
          current.count &+= current.step
          begin(byte == UInt8(ascii: "{"), &current, entry: tape.count)
          nodes = names.nodes.base
          tape.append(current.isObject ? .object : .array, at: index, 0)
          index &+= 1
          state = .opened
          continue scanning
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
          let count = byte == UInt8(ascii: "f") ? 5 : 4
          if index &+ count > end, !isFinal { break scanning }
          guard index &+ count <= end, let kind = literal(text, index) else {
            outcome = .fault(.unexpected(.value))
            break scanning
          }
          tape.append(kind, at: index, 0)
          index &+= count
        default:
          outcome = .fault(.unexpected(.value))
          break scanning
        }
        current.count &+= current.step
        guard open.count > 0 else {
          state = .end
          continue scanning
        }
        state = .afterValue
        if index < end, text[index] == UInt8(ascii: ",") {
          index &+= 1
          state = current.isObject ? .name : .value
        }

      case .end:
        break
      }
    }
    next = index
    self.state = state
    self.current = current
    self.tape.entries.count = tape.count
    return outcome
  }

  // MARK: Arrays and objects

  @inline(__always)
  private mutating func begin(_ isObject: Bool, _ current: inout Container, entry: Int) {
    open.append(current)
    // What is in a member is in its node, be it in arrays inside arrays. `current` has that of an
    // array already.
    var node = Int(current.node)
    if node == NameTable.none { node = NameTable.anywhere }
    if isObject {
      let inner = Int(names.nodes.base[node].inner)
      node = inner > 0 ? inner : names.inner(of: node)
    }
    current = Container(
      entry: Int32(truncatingIfNeeded: entry), isObject: isObject, count: 0,
      step: isObject ? 0 : 1, node: Int32(truncatingIfNeeded: node))
  }

  @inline(__always)
  private mutating func close(_ current: inout Container) -> State {
    if current.isObject, current.node == NameTable.none { seen.close() }
    open.count &-= 1
    current = open.base[open.count]
    return open.count == 0 ? .end : .afterValue
  }

  // MARK: Names

  /// The number of a name that was not the likely one, 0 if it has none; -1 if it stands twice.
  @inline(never)
  private mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ current: inout Container) -> Int {
    if current.node != NameTable.none {
      switch names.step(from: Int(current.node), name) {
      case .node(let node):
        current.node = Int32(node)
        return Int(names.nodes[node].name)
      case .duplicate: return -1
      case .none:
        seen.open()
        names.forEachName(upTo: Int(current.node)) { _ = seen.insert(NameFingerprint($0)) }
        current.node = Int32(NameTable.none)
      }
    }
    let fingerprint = NameFingerprint(name)
    return seen.insert(fingerprint) ? names.number(of: name, fingerprint) : -1
  }

  /// What may come in a state, as a fault says it.
  private func expectation(_ state: State, _ isObject: Bool) -> JSONFault.Expectation {
    switch state {
    case .value, .end: .value
    case .opened: isObject ? .name : .value
    case .name: .name
    case .colon: .colon
    case .afterValue: isObject ? .commaOrBrace : .commaOrBracket
    }
  }
}

@inline(__always)
private func isWhiteSpace(_ byte: UInt8, linesEnd: Bool) -> Bool {
  byte == 0x20 || byte == 0x0A && !linesEnd || byte == 0x0D || byte == 0x09
}

/// The literal at `index`; four bytes are in sight from there, or five.
@inline(__always)
private func literal(_ text: TextBytes, _ index: Int) -> JSONTape.Kind? {
  switch text.halfWord(at: index) {
  case 0x6C6C_756E: .null
  case 0x6575_7274: .true
  case 0x736C_6166 where text[index &+ 4] == UInt8(ascii: "e"): .false
  default: nil
  }
}
