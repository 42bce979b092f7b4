internal import Synchronization

extension CodableInput {
  /// Inputs that nobody uses, for the next value: one for each of a few groups of threads, so that
  /// threads which read at the same time seldom meet.
  ///
  /// Measured with the contact of the benchmark, in instructions per document: 14,327 for decoding,
  /// and 20,134 with a new input each time, which has no containers to use again.
  private struct Spares: ~Copyable {
    static let count = 16
    /// Addresses of inputs, each held once; 0 where there is none. A cache line apart.
    nonisolated(unsafe) let places: UnsafeMutablePointer<Atomic<UInt>>  // Each is atomic.
    static let stride = 8

    init() {
      places = .allocate(capacity: Self.count * Self.stride)
      for place in 0..<Self.count * Self.stride { (places + place).initialize(to: Atomic(0)) }
    }

    /// The place of this thread, told by where its stack is.
    @inline(__always) var place: UnsafeMutablePointer<Atomic<UInt>> {
      let address = withUnsafeTemporaryAllocation(byteCount: 8, alignment: 8) {
        UInt(bitPattern: $0.baseAddress)
      }
      return places + Int((address >> 16 ^ address >> 20) & UInt(Self.count - 1)) * Self.stride
    }
  }

  private static let spares = Spares()
  /// Inputs that have grown larger are not kept.
  private static var largestSpareCount: Int { 4096 }

  /// An input that nobody uses.
  @inline(__always) static func take(
    _ userInfo: [CodingUserInfoKey: any Sendable]
  ) -> CodableInput {
    let address = spares.place.pointee.exchange(0, ordering: .acquiring)
    let input: CodableInput
    if let pointer = UnsafeRawPointer(bitPattern: address) {
      input = Unmanaged<CodableInput>.fromOpaque(pointer).takeRetainedValue()
    } else {
      input = CodableInput()
    }
    if !userInfo.isEmpty {
      input.state.pointee.userInfo = userInfo
      input.state.pointee.hasUserInfo = true
    }
    return input
  }

  /// Ends the reading, and keeps the input for another value unless a type has kept it.
  @inline(__always) static func end(_ input: inout CodableInput) {
    input.state.pointee.pop(to: .empty)
    input.state.pointee.containers.giveBackAll()
    if input.state.pointee.hasUserInfo {
      input.state.pointee.userInfo = [:]
      input.state.pointee.hasUserInfo = false
    }
    guard isKnownUniquelyReferenced(&input),
      input.state.pointee.frames.capacity <= largestSpareCount,
      input.state.pointee.entries.capacity <= largestSpareCount
    else { return }
    let address = UInt(bitPattern: Unmanaged.passRetained(input).toOpaque())
    let earlier = spares.place.pointee.exchange(address, ordering: .releasing)
    if let pointer = UnsafeRawPointer(bitPattern: earlier) {
      Unmanaged<CodableInput>.fromOpaque(pointer).release()
    }
  }
}
