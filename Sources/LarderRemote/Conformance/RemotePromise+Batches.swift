#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Several mutations at once, of which some are bad.
extension RemotePromise {
  static var batchPromises: [RemotePromise] {
    [
      RemotePromise("of a batch with bad mutations in it, exactly what is accepted is stored") {
        trial in
        for _ in 0..<max(trial.roundCount / 3, 2) { try await trial.pushMixedBatch() }
        return "conflicts at the beginning, in the middle and at the end"
      },
      RemotePromise("a mutation that can never be accepted does not take the others with it") {
        trial in
        for (name, poison) in poisons { try await trial.push(poison, name) }
        return "\(poisons.count) kinds"
      },
      RemotePromise("keys and collections that are empty or long are accepted or rejected alone") {
        trial in
        let long = String(repeating: "k", count: 100_000)
        for (collection, key) in [
          ("conformance", ""), ("", trial.newKey().key), ("conformance", long),
          (long, trial.newKey().key), ("conformance", trial.newKey("\u{0}").key),
        ] {
          let odd = RemoteKey(collection, key)
          let mutations = [
            trial.mutation(trial.newKey(), nil, trial.document(#"{"n":1}"#)),
            trial.mutation(odd, nil, trial.document(#"{"n":1}"#)),
            trial.mutation(trial.newKey(), nil, trial.document(#"{"n":1}"#)),
          ]
          let results = try await trial.push(trial.first, mutations)
          _ = try trial.accepted(results[0], "what stands before an odd key")
          _ = try trial.accepted(results[2], "what stands behind an odd key")
          switch results[1] {
          case .rejected: continue
          case .accepted(let revision):
            _ = try? await trial.push(trial.first, trial.mutation(odd, revision, nil))
          default:
            throw BrokenPromise(
              "a key of \(key.utf8.count) bytes in a collection of \(collection.utf8.count) came back "
                + "as \(results[1].phrase)")
          }
        }
        return "5 names"
      },
      RemotePromise("a batch within the limits is taken, and a larger one is refused as a whole") {
        trial in
        try await trial.pushAtTheLimits()
      },
    ]
  }

  /// Documents that servers choke on.
  private static let poisons = [
    ("U+0000", #"{"a":"\u0000"}"#), ("U+0000 in a name", #"{"a\u0000b":1}"#),
    ("half of a surrogate pair", #"{"a":"\ud800"}"#),
    ("the other half, first", #"{"a":"\udc00\ud800"}"#),
    ("two thousand levels", nested(2000)), ("a number above all doubles", #"{"a":1e400}"#),
    ("an integer of 500 digits", #"{"a":"# + String(repeating: "9", count: 500) + "}"),
    ("an exponent of 20 digits", #"{"a":1e99999999999999999999}"#),
    ("no object", "[1]"), ("a text that ends too early", #"{"a":"#),
    ("a second object", #"{"a":1},"deleted":true,"x":{}"#),
    ("a name that stands twice", #"{"a":1,"a":2}"#),
  ]

  private static func nested(_ count: Int) -> String {
    #"{"a":"# + String(repeating: "[", count: count) + String(repeating: "]", count: count) + "}"
  }
}

extension RemoteTrial {
  fileprivate func pushMixedBatch() async throws {
    let cursor = try await end()
    let taken = newKey()
    let base = try await store(taken, nil, document(#"{"n":0}"#))
    let edited = newKey()
    let editedBase = try await store(edited, nil, document(#"{"n":0}"#))
    var mutations = [mutation(edited, editedBase, document(#"{"n":1}"#))]
    mutations += (0..<6).map { _ in mutation(newKey(), nil, document(#"{"n":1}"#)) }
    // Conflicts: it is there already.
    let conflict = mutation(taken, nil, document(#"{"n":9}"#))
    let place = number(0...mutations.count)
    mutations.insert(conflict, at: place)
    var random = SeededNumbers(state: UInt64(number(0...1_000_000)))
    let order = place % 2 == 0 ? mutations : mutations.shuffled(using: &random)

    let results = try await push(first, order)

    var copy = RemoteCopy()
    let acceptedRevisions = zip(order, results).compactMap { mutation, result in
      if case .accepted(let revision) = result { (mutation.key, revision) } else { nil }
    }
    _ = try await read(nil, cursor, into: &copy) { copy in
      acceptedRevisions.allSatisfy { copy.has($0.0, $0.1) } && copy.versions[taken] != nil
    }
    for (mutation, result) in zip(order, results) {
      if mutation.key == taken {
        guard case .conflict(let version?) = result, version.revision == base else {
          throw BrokenPromise("a creation of what is there came back as \(result.phrase)")
        }
        try expect(copy, has: taken, base, document(#"{"n":0}"#))
      } else {
        let revision = try accepted(result, "\(mutation.key), in a batch with a conflict,")
        try expect(copy, has: mutation.key, revision, document(#"{"n":1}"#))
      }
    }
  }

  fileprivate func push(_ poison: String, _ name: String) async throws {
    let cursor = try await end()
    let good = document(#"{"n":1}"#)
    let mutations = [
      mutation(newKey(), nil, good), mutation(newKey(), nil, document(poison)),
      mutation(newKey(), nil, good),
    ]
    let results: [PushResult]
    do {
      results = try await push(first, mutations)
    } catch {
      throw BrokenPromise("a batch with \(name) in one document failed as a whole: \(error)")
    }
    var revisions: [RemoteKey: String] = [:]
    for index in [0, 2] {
      revisions[mutations[index].key] = try accepted(
        results[index], "a document in one batch with \(name)")
    }
    switch results[1] {
    case .rejected: break
    case .accepted(let revision): revisions[mutations[1].key] = revision
    default: throw BrokenPromise("\(name) came back as \(results[1].phrase)")
    }
    var copy = RemoteCopy()
    _ = try await read(nil, cursor, into: &copy) { copy in
      revisions.allSatisfy { copy.has($0.key, $0.value) }
    }
    for mutation in mutations {
      guard let revision = revisions[mutation.key], let document = mutation.document else {
        if copy.versions[mutation.key] == nil { continue }
        throw BrokenPromise("a document with \(name) was rejected, and is there")
      }
      try expect(copy, has: mutation.key, revision, document)
    }
  }

  fileprivate func pushAtTheLimits() async throws -> String {
    let count = facts.maximumMutationCount
    let start = try await end()
    let most = (0..<count).map { _ in mutation(newKey(), nil, document("{}")) }
    var revisions: [RemoteKey: String] = [:]
    for (mutation, result) in zip(most, try await push(first, most)) {
      revisions[mutation.key] = try accepted(
        result, "one of \(count) mutations, which is the limit,")
    }
    // A few large ones, up to the limit or 4 MB.
    let byteCount = min(facts.maximumPushByteCount, 4 << 20)
    let size = byteCount / 4
    let text = #"{"a":""# + String(repeating: "x", count: max(size - 8, 0)) + #""}"#
    let large = (0..<4).map { _ in mutation(newKey(), nil, document(text)) }
    for (mutation, result) in zip(large, try await push(first, large)) {
      revisions[mutation.key] = try accepted(result, "one of 4 documents of \(size) bytes")
    }
    var copy = RemoteCopy()
    let cursor = try await read(nil, start, into: &copy) { copy in
      revisions.allSatisfy { copy.has($0.key, $0.value) }
    }
    for (key, revision) in revisions where !copy.has(key, revision) {
      throw BrokenPromise("\(key) was accepted in a large batch, and no pull gives it")
    }
    let tooMany = (0...count).map { _ in mutation(newKey(), nil, document("{}")) }
    do {
      let results = try await push(first, tooMany)
      guard results.allSatisfy({ if case .accepted = $0 { true } else { false } }) else {
        throw BrokenPromise(
          "of \(count + 1) mutations, one more than the limit, some were accepted")
      }
    } catch RemoteError.tooLarge {
      _ = try await read(nil, cursor, into: &copy)
      if let key = tooMany.map(\.key).first(where: { copy.versions[$0] != nil }) {
        throw BrokenPromise("a batch was refused as too large, and \(key) of it was stored")
      }
    }
    return "\(count) mutations and one more, \(byteCount) bytes"
  }
}
