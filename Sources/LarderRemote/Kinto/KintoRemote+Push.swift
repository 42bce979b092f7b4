// What stands there is read first, with the stamps of those who wrote it. Then comes what is still to be done, under the
// condition that nothing has changed. What is not settled by the answer is read again: only what is read back is known
// to be stored.

extension KintoRemote {
  /// How often what is not settled is read and sent again.
  private static let mostAttempts = 5
  /// From here on each edit goes in a batch of its own, so that one that Kinto cannot answer keeps no other from being
  /// stored.
  private static let firstLoneAttempt = 2

  /// Sends edits.
  ///
  /// Two requests for 24 edits or less, of which one reads. A missing bucket or collection is made, unless the options
  /// say otherwise. A document that Kinto cannot hold is not sent, and its result is
  /// ``PushResult/rejected(code:reason:)`` with the code `malformed`; an edit of a collection that the remote was not
  /// made with has the code `unknown-collection`. Where Kinto asks for a pause of up to five seconds, it is waited for
  /// twice.
  public func push(_ request: PushRequest) async throws -> [PushResult] {
    let bucket = try bucket(request.scope)
    var edits = request.mutations.map { KintoEdit($0, in: collections) }
    var patience = KintoPatience()
    for part in KintoEdit.parts(edits, mostCalls, options.http.maximumPushBodyByteCount) {
      for attempt in 0..<Self.mostAttempts {
        let open = part.filter { edits[$0].result == nil }
        if open.isEmpty { break }
        if attempt > 1 { try await Task.sleep(for: .milliseconds(50 << attempt)) }
        do {
          try await settle(open, of: &edits, isAlone: attempt >= Self.firstLoneAttempt, bucket)
        } catch {
          try await patience.wait(after: error)
        }
      }
    }
    return edits.map { $0.result ?? .retry }
  }

  /// Reads what stands under the keys of some edits, and sends what is to be done.
  private func settle(
    _ open: [Int], of edits: inout [KintoEdit], isAlone: Bool, _ bucket: KintoBucket
  ) async throws {
    let known = try await records(of: open.map { edits[$0].mutation.key }, bucket)
    for index in open { try edits[index].meet(known[edits[index].mutation.key], bucket) }
    let writes = open.filter { edits[$0].result == nil }
    for group in isAlone ? writes.map({ [$0] }) : [writes] where !group.isEmpty {
      try await write(group, of: &edits, bucket)
    }
  }

  /// Sends edits in one batch, and notes what is settled by the answer.
  private func write(
    _ group: [Int], of edits: inout [KintoEdit], _ bucket: KintoBucket
  ) async throws {
    var calls: [KintoCall] = []
    if group.contains(where: { edits[$0].calls.count > 1 }) {
      calls.append(.put(try bucket.collection(Self.deletions), KintoBucket.emptyBody))
    }
    var places: [Int: Int] = [:]
    for index in group {
      calls += edits[index].calls
      places[index] = calls.count - 1
    }
    let replies = try await send(calls).replies
    // With a 409 everything before it is rolled back, whatever was answered; a 5xx says nothing for sure either.
    let broken = replies.lastIndex { $0.status == 409 || $0.status >= 500 } ?? -1
    // An edit of a record that the user may not write is rejected. If nothing at all may be written, the scope is
    // forbidden.
    let isAnyStored =
      edits.contains { if case .accepted? = $0.result { true } else { false } }
      || group.contains { places[$0].map { replies[$0].status < 300 } ?? false }
    for index in group {
      guard let place = places[index], place > broken else { continue }
      try edits[index].take(replies[place], isOthersStored: isAnyStored)
    }
  }

  /// The records and tombstones that stand under some keys, with the stamps of what was deleted.
  private func records(
    of keys: [RemoteKey], _ bucket: KintoBucket
  ) async throws -> [RemoteKey: KintoRecord] {
    var records: [RemoteKey: KintoRecord] = [:]
    var hasMade = false
    let wanted = Set(keys)
    var lists = try Dictionary(grouping: keys, by: \.collection)
      .sorted { $0.key < $1.key }
      .map { try KintoList($0.key, $0.value, in: bucket) }
    while !lists.isEmpty {
      // Of a collection that is forbidden Kinto lists those records that the user may read. Whether it is, the
      // collection itself says.
      let asked = Array(lists.prefix(max(1, mostCalls / 2)))
      let replies = try await send(asked.flatMap { [$0.call, KintoCall(path: $0.path)] }).replies
      lists.removeFirst(asked.count)
      for (place, list) in asked.enumerated() {
        let (reply, collection) = (replies[2 * place], replies[2 * place + 1])
        switch collection.status == 403 ? 403 : reply.status {
        case 200:
          for record in try reply.records() {
            guard let name = KintoName.name(record.id) else { continue }
            let key = RemoteKey(list.collection, name)
            if wanted.contains(key) { records[key] = record }
          }
          if reply.hasNextPage { lists.append(try list.next(reply.nextToken)) }
        case 404:
          guard options.createsMissing else {
            throw RemoteError.forbidden("the bucket has no collection \(list.collection)")
          }
          let made = try await send([.put(list.path, KintoBucket.emptyBody)]).replies[0]
          guard [200, 201, 412].contains(made.status) else { throw made.error }
        case 403:
          let refusal = reply.status == 403 ? reply.error : collection.error
          if !hasMade {
            guard try await make(bucket) else { throw refusal }
            hasMade = true
          }
          lists.append(try list.again(refusal))
        default: throw reply.error
        }
      }
    }
    return try await addDeleted(to: records, bucket)
  }

  /// Gives tombstones the stamps that were kept for them.
  private func addDeleted(
    to records: [RemoteKey: KintoRecord], _ bucket: KintoBucket
  ) async throws -> [RemoteKey: KintoRecord] {
    var records = records
    let deleted = records.filter { $0.value.document == nil }.map(\.key).sorted()
    for keys in parts(deleted, of: mostCalls) {
      let calls = try keys.map {
        KintoCall(path: try bucket.deletion($0))
      }
      for (key, reply) in zip(keys, try await send(calls).replies) where reply.status == 200 {
        records[key]?.stamps = reply.stamps
      }
    }
    return records
  }
}

/// A list of the records that have some ids, tombstones as well.
private struct KintoList {
  let collection: String
  let path: String
  private let query: String
  private var token: String?
  private var pagesLeft: Int
  private var wasRefused = false

  init(_ collection: String, _ keys: [RemoteKey], in bucket: KintoBucket) throws(RemoteError) {
    self.collection = collection
    path = try bucket.collection(collection)
    // In quotes, without which Kinto takes `12` for a number and finds no such id.
    query = keys.compactMap { KintoName.id($0.key).map { "%22\($0)%22" } }.joined(separator: ",")
    pagesLeft = keys.count
  }

  /// The next page.
  ///
  /// - Throws: ``RemoteError/malformed(_:)`` for one that cannot be asked for, and where there are more pages than
  ///   records were asked for.
  func next(_ token: String?) throws(RemoteError) -> KintoList {
    guard let token, token != self.token, pagesLeft > 0 else {
      throw .malformed("the pages of a list of Kinto's come to no end")
    }
    var list = self
    list.token = token
    list.pagesLeft -= 1
    return list
  }

  /// The same once more, now that the bucket is there.
  ///
  /// - Throws: The refusal, where it was asked again already.
  func again(_ refusal: RemoteError) throws(RemoteError) -> KintoList {
    if wasRefused { throw refusal }
    var list = self
    list.wasRefused = true
    return list
  }

  var call: KintoCall {
    let path = "\(path)/records?_since=0&_sort=last_modified&in_id=\(query)"
    return KintoCall(path: token.map { "\(path)&_token=\($0.percentEncoded)" } ?? path)
  }
}
