/// What all decoders of one value share: a stack with a frame for each value that is being
/// decoded. Decoders and containers name a frame and its generation, so that one that a type
/// keeps beyond its value's time is found out, and reads nothing.
final class CodableInput {
  /// Behind a pointer, as each access to a class's own property would be checked for exclusivity.
  let state: UnsafeMutablePointer<State>

  struct State: ~Copyable {
    var frames = RawList<Frame>(capacity: 16)
    var entries = RawList<MapEntry>(capacity: 32)
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    var hasUserInfo = false
    var generation: UInt32 = 0
    var containers = ContainerCache<DecodingCell>()
  }

  /// One value that is being decoded. It borrows bytes that are lent for as long as the frame is
  /// on the stack, and the binding with them.
  struct Frame: BitwiseCopyable {
    /// 0 for a frame that is no more.
    var generation: UInt32
    var parent: Int32
    /// Containers that this value is inside of.
    var depth: Int32
    var layout = Layout.unread
    /// Whether the value is the one in a dictionary's place, so that pairs may be read from it.
    var isDictionary = false
    /// Whether it is a document, which only a keyed container can be.
    var isDocument = false
    let key: KeyPlace
    /// In front of the value.
    let start: UnsafeRawPointer
    /// Behind all that may be read.
    let end: UnsafeRawPointer
    /// Behind the value, once its containers have been looked at.
    var valueEnd: UnsafeRawPointer?
    let binding: Unmanaged<CollectionBinding>
    /// Records that the value is inside of.
    let recordDepth: Int
    /// The entries of a dictionary.
    var firstEntry = 0
    var entryCount = 0
    /// Where the next entry is looked for first.
    var nextEntry = 0
    /// The header of a record.
    var record: RecordPlace?
  }

  enum Layout: UInt8 {
    case unread, record, map
  }

  /// What a keyed container decodes from.
  final class DecodingCell: ContainerCell {
    let keys: UnsafePointer<KeyPlan>
    @exclusivity(unchecked) var isFree = false
    /// nil when the value has been decoded.
    @exclusivity(unchecked) private(set) var state: UnsafeMutablePointer<State>?
    private let input: Unmanaged<CodableInput>
    @exclusivity(unchecked) var frame = 0
    @exclusivity(unchecked) var generation: UInt32 = 0
    /// Where the keys stand in the record; nil for a dictionary, and for keys that have no plan.
    @exclusivity(unchecked) var slots: UnsafePointer<SlotPlan>?

    init(_ input: CodableInput, _ keys: UnsafePointer<KeyPlan>) {
      self.input = .passUnretained(input)
      state = input.state
      self.keys = keys
    }

    func die() { state = nil }

    /// What it decodes from; nil where the bytes have been given back.
    @inline(__always) var lentState: UnsafeMutablePointer<State>? {
      guard let state, state.pointee.isLent(frame, generation) else { return nil }
      return state
    }

    /// The decoder whose container it is; nil where the bytes have been given back. The input
    /// lives for as long as they are lent.
    @inline(__always) var decoder: ValueDecoder? {
      guard lentState != nil else { return nil }
      return ValueDecoder(input.takeUnretainedValue(), frame, generation)
    }
  }

  init() {
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }
}

/// Where the values of a record are, without a reader that could not be copied.
struct RecordPlace: BitwiseCopyable {
  let numbers: UnsafeRawPointer
  let values: UnsafeRawPointer
  let end: UnsafeRawPointer
  let shift: Int
  let slotCount: Int
  let table: Int

  init(_ record: borrowing RecordReader) {
    numbers = record.numbers
    values = record.values
    end = record.end
    shift = record.shift
    slotCount = record.slotCount
    table = record.table
  }

  /// Where the value of a slot begins; nil where the record has none.
  @inline(__always) func value(inSlot slot: Int) throws(RecordError) -> UnsafeRawPointer? {
    if slot >= slotCount { return nil }
    let offset = RecordHeader.number(numbers, 3 &+ slot, shift: shift)
    if offset == 0 { return nil }
    if _slowPath(offset > end - values) { throw .truncated }
    return values + (offset &- 1)
  }

  /// Whether a slot has a value, or something that reading it says is wrong.
  func mayHaveValue(inSlot slot: Int) -> Bool {
    slot < slotCount && RecordHeader.number(numbers, 3 + slot, shift: shift) != 0
  }
}

/// One pair of a dictionary.
struct MapEntry: BitwiseCopyable {
  let key: UnsafeRawPointer
  let value: UnsafeRawPointer
  /// See ``Swift/UnsafeRawBufferPointer/keyPrefix``.
  let prefix: UInt64

  /// The key ends where the value begins.
  @inline(__always) var keyBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: key, count: value - key)
  }
}

/// Which key a value stands under, for the path of an error.
enum KeyPlace: BitwiseCopyable {
  /// The value itself, and inside an optional.
  case none
  case index(Int)
  case name(UnsafePointer<KeyName>)
  /// A key on disk, which ends in front of the value.
  case encoded(UnsafeRawPointer, end: UnsafeRawPointer)
  case slot(Int, table: Int)
}

// MARK: The stack

extension CodableInput {
  /// Puts a frame for a value on the stack.
  @inline(__always) func push(
    _ reader: ValueReader, _ key: KeyPlace, parent: Int, depth: Int32
  ) -> ValueDecoder {
    let index = state.pointee.frames.count
    return ValueDecoder(self, index, state.pointee.push(reader, key, parent: parent, depth: depth))
  }

  /// Puts a frame for a whole document on the stack.
  @inline(__always) func pushDocument(_ record: borrowing RecordReader) -> ValueDecoder {
    let reader = ValueReader(
      record.numbers - 2, record.end, binding: record.binding, depth: record.depth)
    let decoder = push(reader, .none, parent: -1, depth: 0)
    state.pointee.frames[decoder.frame].layout = .record
    state.pointee.frames[decoder.frame].isDocument = true
    state.pointee.frames[decoder.frame].record = RecordPlace(record)
    return decoder
  }
}

extension CodableInput.State {
  /// How much is on the stack: what ``pop(to:)`` takes when what was put on it since is done with.
  struct Height: BitwiseCopyable {
    fileprivate var frames = 0
    fileprivate var entries = 0
    fileprivate var containers = 0

    static let empty = Height()

    /// The frame that is put on it next.
    var frame: Int { frames }
  }

  @inline(__always) var height: Height {
    Height(
      frames: frames.count, entries: entries.count, containers: containers.takenCount)
  }

  @inline(__always) fileprivate mutating func push(
    _ reader: ValueReader, _ key: KeyPlace, parent: Int, depth: Int32
  ) -> UInt32 {
    generation &+= 1
    if _slowPath(generation == 0) { generation = 1 }
    frames.append(
      CodableInput.Frame(
        generation: generation, parent: Int32(truncatingIfNeeded: parent), depth: depth, key: key,
        start: reader.at, end: reader.end, binding: .passUnretained(reader.binding),
        recordDepth: reader.depth))
    return generation
  }

  /// Takes frames off the stack, with their entries and containers.
  @inline(__always) mutating func pop(to height: Height) {
    for index in height.frames..<frames.count { frames.base[index].generation = 0 }
    frames.shrink(to: height.frames)
    entries.shrink(to: height.entries)
    containers.give(back: height.containers)
  }

  /// Whether the bytes of a frame may still be read.
  @inline(__always) func isLent(_ frame: Int, _ generation: UInt32) -> Bool {
    frames.base[frame].generation == generation
  }

  /// A reader at a place inside the value of a frame.
  @inline(__always) func reader(_ frame: Int, at place: UnsafeRawPointer) -> ValueReader {
    let frame = frames.base + frame
    return frame.pointee.binding._withUnsafeGuaranteedRef {
      ValueReader(place, frame.pointee.end, binding: $0, depth: frame.pointee.recordDepth)
    }
  }
}

extension CodableInput {
  /// The way to a value.
  func path(to frame: Int, _ key: KeyPlace = .none) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var index = frame
    var key = key
    while true {
      if let key = codingKey(key, in: index) { path.append(key) }
      guard index >= 0 else { return path.reversed() }
      key = state.pointee.frames[index].key
      index = Int(state.pointee.frames[index].parent)
    }
  }

  private func codingKey(_ key: KeyPlace, in frame: Int) -> (any CodingKey)? {
    switch key {
    case .none: return nil
    case .index(let index): return PathKey(index: index)
    case .name(let name):
      let text = name.pointee.string
      return name.pointee.keys.pointee.type.init(stringValue: text) ?? PathKey(stringValue: text)
    case .encoded(let start, let end):
      let bytes = UnsafeRawBufferPointer(start: start, count: end - start)
      return PathKey(stringValue: EncodedKey(bytes).text)
    case .slot(let slot, let table):
      guard frame >= 0 else { return nil }
      return state.pointee.frames[frame].binding._withUnsafeGuaranteedRef {
        PathKey(stringValue: $0.collection.tables[table][slot].name)
      }
    }
  }
}
