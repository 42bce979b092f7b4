// One list of records for each collection, in a batch together with the collections themselves, which tell whether they
// are still those that were read before. No request has a condition: a 304 in a batch makes Kinto fail.

extension KintoRemote {
  /// Changes of all collections behind a cursor.
  ///
  /// One request where nothing is new, and two where something is; they are made once more when the overlap has passed
  /// after a change. A bucket that is missing is made, unless the options say otherwise.
  ///
  /// - Throws: ``RemoteError/cursorExpired`` where a collection was deleted, made again or changed in its settings since
  ///   the cursor was given out, or the server has gone back to an earlier state: tombstones may be missing then.
  public func pull(_ request: PullRequest) async throws -> PullAnswer {
    var pull = KintoPull(
      cursor: try request.cursor.map { try KintoCursor(text: $0) } ?? KintoCursor(),
      overlap: options.overlap, limit: max(1, request.limit))
    let bucket = try bucket(request.scope)
    pull.begin(collections)
    var patience = KintoPatience()
    while pull.changes.isEmpty, !pull.open.isEmpty {
      do {
        try await ask(&pull, bucket, isFirst: request.cursor == nil)
      } catch {
        try await patience.wait(after: error)
      }
    }
    return try pull.answer()
  }

  /// Asks some of the collections that are still to be asked.
  private func ask(
    _ pull: inout KintoPull, _ bucket: KintoBucket, isFirst: Bool
  ) async throws {
    // Two requests for each, and no more changes in all than are wanted.
    let names = Array(pull.open.prefix(max(1, min(mostCalls / 2, pull.limit))))
    let calls = try names.flatMap { name in
      [
        pull.call(name, try bucket.records(name), limit: max(1, pull.limit / names.count)),
        KintoCall(path: try bucket.collection(name)),
      ]
    }
    let batch = try await send(calls)
    if let refused = batch.replies.first(where: { $0.status == 403 }) {
      // So Kinto answers where there is no bucket. It is not taken for an empty one: what is forbidden only now would
      // be dropped here.
      guard !pull.hasMade, try await make(bucket) else { throw refused.error }
      if !isFirst { throw RemoteError.cursorExpired }
      pull.hasMade = true
      return
    }
    for (index, name) in names.enumerated() {
      try pull.take(
        batch.replies[2 * index], of: name, collection: batch.replies[2 * index + 1],
        time: batch.time)
    }
  }

  /// Makes a bucket.
  ///
  /// - Returns: Whether it was missing.
  func make(_ bucket: KintoBucket) async throws -> Bool {
    guard options.createsMissing else { return false }
    let reply = try await send([.put(bucket.path, KintoBucket.emptyBody)]).replies[0]
    switch reply.status {
    case 201: return true
    // Somebody else's, or nobody but an administrator may make one.
    case 200, 403, 412: return false
    default: throw reply.error
    }
  }
}

extension KintoBucket {
  /// What a bucket or a collection is made with.
  static let emptyBody = Array(#"{"data":{}}"#.utf8)
}

/// A pull while it is under way.
struct KintoPull {
  private(set) var cursor: KintoCursor
  let overlap: Duration
  let limit: Int
  /// Collections that are still to be asked.
  private(set) var open: [String] = []
  private(set) var changes: [RemoteChange] = []
  /// Whether the bucket was missing, and is made.
  var hasMade = false
  /// Those of which it is known that they are to be read, with the overlap.
  private var isDue: Set<String> = []

  init(cursor: KintoCursor, overlap: Duration, limit: Int) {
    (self.cursor, self.overlap, self.limit) = (cursor, overlap, limit)
  }

  /// Goes on with those that the last pull has not finished, or begins with all.
  mutating func begin(_ collections: [String]) {
    cursor.places = cursor.places.filter { collections.contains($0.key) }
    for name in collections where cursor.places[name] == nil {
      cursor.places[name] = KintoCursor.Place(waits: cursor.hasMore ? true : nil)
    }
    open = collections.filter {
      !cursor.hasMore || cursor.places[$0]?.page != nil || cursor.places[$0]?.waits == true
    }
  }

  func call(_ name: String, _ path: String, limit: Int) -> KintoCall {
    let place = cursor.places[name] ?? KintoCursor.Place()
    if let etag = place.etag, isProbe(name, place) {
      return KintoCall(path: "\(path)?_sort=last_modified&_limit=1&_since=\(etag)")
    }
    var call = KintoCall(path: "\(path)?_sort=last_modified&_limit=\(limit)")
    if let from = from(place) { call.path += "&_since=\(from)" }
    if let page = place.page { call.path += "&_token=\(page.token.percentEncoded)" }
    return call
  }

  /// Whether it is only asked for the time of its last change. Without an overlap nothing would be saved by that.
  private func isProbe(_ name: String, _ place: KintoCursor.Place) -> Bool {
    overlap > .zero && place.page == nil && place.etag != nil && !isDue.contains(name)
  }

  private func from(_ place: KintoCursor.Place) -> Int? {
    if let page = place.page { return page.from }
    let overlap = Int(min(overlap / .milliseconds(1), Double(KintoCursor.numbers.upperBound)))
    return place.since.map { max(0, $0 - overlap) }
  }

  /// - Throws: ``RemoteError``.
  mutating func take(
    _ reply: KintoReply, of name: String, collection: KintoReply, time: Int
  ) throws {
    var place = cursor.places[name] ?? KintoCursor.Place()
    let isKnown = place.etag != nil || place.page != nil
    open.removeAll { $0 == name }
    place.waits = nil
    switch reply.status {
    case 200 where isProbe(name, place):
      // What is committed late does not change the list's time.
      let hasPassed = place.seen.map { time - $0 > overlap.components.seconds } ?? false
      if hasPassed || reply.etag != place.etag {
        isDue.insert(name)
        open.append(name)
      }
    case 404:
      if isKnown { throw RemoteError.cursorExpired }
    case 400 where isKnown: throw RemoteError.cursorExpired
    case 200:
      guard let etag = reply.etag else {
        throw RemoteError.malformed("a list of Kinto's has no `ETag`")
      }
      let origin = collection.status == 200 ? collection.time : nil
      if let known = place.origin, let origin, origin != known { throw RemoteError.cursorExpired }
      if let known = place.page?.etag ?? place.etag, etag < known {
        throw RemoteError.cursorExpired
      }
      place.origin = origin ?? place.origin
      try take(reply, etag, of: name, time, &place)
    default: throw reply.error
    }
    cursor.places[name] = place
  }

  private mutating func take(
    _ reply: KintoReply, _ etag: Int, of name: String, _ time: Int,
    _ place: inout KintoCursor.Place
  ) throws {
    for record in try reply.records() {
      guard let key = KintoName.name(record.id) else {
        // One that no client of Larder can have made, or can edit. It counts all the same: the engine is told that there
        // is something that it does not follow.
        changes.append(
          RemoteChange(
            RemoteKey(KintoRemote.deletions, record.id), revision: record.revision, .deleted))
        continue
      }
      changes.append(
        RemoteChange(
          RemoteKey(name, key), revision: record.revision,
          record.document.map { .document($0) } ?? .deleted))
    }
    let isSettled = overlap == .zero || isDue.contains(name) && etag == place.etag
    let first = KintoCursor.Page(
      token: "", from: from(place), etag: etag,
      since: min(etag, (time + 1) * 1000),
      seen: isSettled ? nil : time)
    var page = place.page ?? first
    if let token = reply.nextToken {
      guard token != page.token else {
        throw RemoteError.malformed("a page of Kinto's leads to itself")
      }
      page.token = token
      place.page = page
    } else if reply.hasNextPage {
      throw RemoteError.malformed("a page of Kinto's leads to one without a `_token`")
    } else {
      (place.etag, place.since, place.seen) = (page.etag, page.since, page.seen)
      place.page = nil
    }
  }

  func answer() throws -> PullAnswer {
    var cursor = cursor
    for name in open { cursor.places[name]?.waits = true }
    return PullAnswer(changes: changes, cursor: try cursor.text(), hasMore: cursor.hasMore)
  }
}
