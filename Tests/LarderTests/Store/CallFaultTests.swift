import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// What the store does when LMDB does not: each call that an operation makes fails once, or from
/// then on for ever.
@Suite(.timeLimit(.minutes(20))) struct CallFaultTests {
  /// What is in a store, as far as anybody can see.
  struct Contents: Equatable {
    var collections: [String: [DynamicDocument]] = [:]
    var sequence: UInt64 = 0

    init(of store: Store) throws {
      for name in try store.collectionNames() {
        let documents = try store.collection(name).documents()
        // One that is empty may have been declared by what failed.
        if !documents.isEmpty { collections[name] = documents }
      }
      sequence = try store.read { $0.sequence }
    }
  }

  /// A call that fails.
  struct Fault: CustomStringConvertible {
    let call: Call
    /// Which of the calls of its kind.
    let number: Int
    let isForEver: Bool
    let status: Int32

    /// Whether another process has outgrown the map, and it never becomes larger.
    var isOutgrownForEver: Bool { isForEver && status == -30785 }

    var description: String {
      "\(call.rawValue) \(number) \(isForEver ? "for ever" : "once") with \(status)"
    }
  }

  static let statuses: [Call: [Int32]] = [
    .begin: [EIO, -30790, -30785, ENOMEM],  // Readers full, map resized.
    .renew: [EIO, -30785],
    .put: [-30792, EIO],  // Map full.
    .putCursor: [-30792, EIO],
    .commit: [EIO, ENOSPC],
    .openDatabase: [EIO, -30791],  // All handles taken.
  ]

  /// Counts calls, or has one of them fail.
  final class Plan: Sendable {
    private struct State {
      var counts: [Call: Int] = [:]
      var fault: Fault?
      var hasFailed = false
    }
    private let state = Locked(State())

    func begin(_ fault: Fault?) {
      state.withLock { state in
        state = State()
        state.fault = fault
      }
    }

    var counts: [Call: Int] { state.withLock { $0.counts } }
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    func status(of call: Call) -> Int32? {
      state.withLock { state in
        let number = state.counts[call, default: 0]
        state.counts[call] = number + 1
        guard let fault = state.fault, fault.call == call,
          number == fault.number || fault.isForEver && number > fault.number
        else { return nil }
        state.hasFailed = true
        return fault.status
      }
    }
  }

  /// Lends a store with documents, behind a plan that lets everything pass, and then looks whether
  /// anything was left open.
  static func withStore<Result>(
    _ body: (Store, Plan) async throws -> Result
  ) async throws -> Result {
    let plan = Plan()
    let folder = TestFolder()
    // Before it is opened, so that everything is counted.
    let path = folder.store
    let faults = CallFaults.watch(path) { plan.status(of: $0) }
    defer { CallFaults.stopWatching(path) }
    let store = try Store(at: path, options: StoreOptions(durability: .volatile))
    try #require(store.engine.environment.folder == path)
    let contacts = (0..<12).map { Contact(id: "\($0)", city: $0 % 2 == 0 ? "Oslo" : "Bergen") }
    try await store.repository(of: Contact.self).save(contacts)
    let parcels = (0..<12).map {
      Parcel(id: $0, code: "code-\($0)", shelf: $0 % 3, labels: ["a", "b"], note: "\($0)")
    }
    try await store.repository(of: Parcel.self).save(parcels)
    // Stores that an operation makes for a moment, as a publication does, are of the plan too.
    let result = try await CallFaults.$ofTask.withValue(faults) { try await body(store, plan) }
    plan.begin(nil)
    // Behind whatever is still done in the background.
    try await store.flush()
    let report = try store.check()
    #expect(report.isSound, "\(report.problems)")
    // Watchers may still look, on a line of their own.
    #expect(try await eventually { store.engine.environment.gate.runningCount == 0 })
    try store.close()
    #expect(faults.counts == CallFaults.Counts())
    return result
  }

  @Test("whatever fails is not kept, what returns is, and the store goes on", arguments: operations)
  func faults(_ operation: Operation) async throws {
    var before: Contents?
    var after: Contents?
    var counts: [Call: Int] = [:]
    try await Self.withStore { store, plan in
      before = try Contents(of: store)
      plan.begin(nil)
      try await operation.run(store)
      counts = plan.counts
      after = try Contents(of: store)
    }
    try #require(!counts.isEmpty)
    var failures = 0
    var runs = 0
    let all = Self.faults(counts).filter { !operation.waitsForMap || !$0.isOutgrownForEver }
    for fault in sample(of: all) {
      runs += 1
      try await Self.withStore { store, plan in
        plan.begin(fault)
        var error: (any Error)?
        do { try await operation.run(store) } catch let thrown { error = thrown }
        plan.begin(nil)
        // One that cannot be opened again stays suspended, and can be resumed later.
        try store.resume()
        let found = try Contents(of: store)
        guard let error else {
          #expect(found == after, "\(operation) returned with \(fault)")
          return
        }
        failures += 1
        #expect(
          error is StoreError || error is MigrationError,
          "\(operation) threw \(error) with \(fault)")
        if !operation.isInSteps { #expect(found == before, "\(operation) threw with \(fault)") }
        try await operation.run(store)
        let again = try Contents(of: store)
        #expect(again.collections == after?.collections, "\(operation) again after \(fault)")
      }
    }
    print("faults: \(operation) \(failures) of \(runs) thrown")
    // Or else nothing was tried. A sample may hold only what the operation survives.
    #expect(failures > 0 || runs < all.count)
  }

  /// The first, the last and a middle one of each kind, once, and all from the first on.
  static func faults(_ counts: [Call: Int]) -> [Fault] {
    var faults: [Fault] = []
    for (call, count) in counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let statuses = statuses[call] ?? [EIO]
      for (place, number) in Set([0, count / 2, count - 1]).sorted().enumerated() {
        let status = statuses[place % statuses.count]
        faults.append(Fault(call: call, number: number, isForEver: false, status: status))
      }
      for status in statuses {
        faults.append(Fault(call: call, number: 0, isForEver: true, status: status))
      }
    }
    return faults
  }
}
