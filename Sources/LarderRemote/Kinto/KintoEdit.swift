/// A mutation on its way to Kinto.
struct KintoEdit {
  let mutation: Mutation
  /// Nil while it is not settled.
  private(set) var result: PushResult?
  /// What is to be sent for it; the answer to the last is the answer.
  private(set) var calls: [KintoCall] = []
  private let stamp: KintoStamp

  init(_ mutation: Mutation, in collections: [String]) {
    self.mutation = mutation
    stamp = KintoStamp(mutation)
    if !collections.contains(mutation.key.collection) {
      result = .rejected(
        code: "unknown-collection",
        reason: "the remote was made without the collection \(mutation.key.collection.prefix(100))")
    } else if KintoBucket.collectionID(mutation.key.collection) == nil
      || KintoName.id(mutation.key.key) == nil
    {
      result = .rejected(code: "malformed", reason: "the key is too long for Kinto")
    } else if let document = mutation.document {
      do throws(KintoValue.Refusal) {
        _ = try KintoRecord.body(of: document, [])
      } catch {
        result = .rejected(code: "malformed", reason: error.reason)
      }
    }
  }

  /// Decides what is to be done, by what stands there.
  mutating func meet(_ record: KintoRecord?, _ bucket: KintoBucket) throws {
    calls = []
    result = record?.answer(to: mutation, stamp)
    if result != nil { return }
    guard let document = mutation.document else {
      return try meetDeletion(of: record, bucket)
    }
    let isFree = record?.document == nil
    guard mutation.base == nil ? isFree : !isFree && mutation.base == record?.revision else {
      result = .conflict(record?.version)
      return
    }
    let path = try bucket.record(mutation.key)
    do throws(KintoValue.Refusal) {
      let body = try KintoRecord.body(of: document, stamps(behind: record))
      calls = [.put(path, body, over: isFree ? nil : record?.revision)]
    } catch {
      result = .rejected(code: "malformed", reason: error.reason)
    }
  }

  private mutating func meetDeletion(of record: KintoRecord?, _ bucket: KintoBucket) throws {
    guard let record, record.document != nil else {
      result = .accepted(revision: record?.revision ?? "")
      return
    }
    guard mutation.base == record.revision else {
      result = .conflict(record.version)
      return
    }
    // A tombstone has no stamps, so that they are kept apart.
    let body = Array(#"{"data":{"#.utf8) + stamps(behind: record).json + Array("}}".utf8)
    calls = [
      KintoCall(method: "PUT", path: try bucket.deletion(mutation.key), body: body),
      KintoCall(
        method: "DELETE", path: try bucket.record(mutation.key), ifMatch: "\"\(record.revision)\""),
    ]
  }

  private func stamps(behind record: KintoRecord?) -> [KintoStamp] {
    (record?.stamps ?? []).adding(stamp, behind: record?.revision ?? "")
  }

  /// Notes what Kinto has answered. What it has not done for a reason that may be gone stays open.
  ///
  /// - Parameter isOthersStored: Whether the user may change something in the scope.
  /// - Throws: ``RemoteError`` for what is not about this document alone.
  mutating func take(_ reply: KintoReply, isOthersStored: Bool) throws {
    switch reply.status {
    case 200, 201:
      guard let time = reply.time else {
        throw RemoteError.malformed("Kinto has written a record, and does not say at which time")
      }
      result = .accepted(revision: "\(time)")
    // Somebody was faster, or the collection is gone.
    case 404, 412: break
    case 400: result = .rejected(code: "malformed", reason: reply.text)
    case 403 where isOthersStored: result = .rejected(code: "forbidden", reason: reply.text)
    case 405: throw RemoteError.forbidden("the server takes no edits now: \(reply.text)")
    case 413: result = .rejected(code: "too-large", reason: reply.text)
    default: throw reply.error
    }
  }

  /// The edits of each batch, by their places: as many requests, and about as many bytes, as it may have.
  static func parts(_ edits: [KintoEdit], _ mostCalls: Int, _ mostByteCount: Int) -> [[Int]] {
    var parts: [[Int]] = []
    // One request makes the collection for deletions.
    var (part, callCount, byteCount) = ([Int](), 1, 0)
    for (index, edit) in edits.enumerated() where edit.result == nil {
      let calls = edit.mutation.document == nil ? 2 : 1
      // The address, the stamps, and how much longer it is as it is written.
      let bytes = 2400 + (edit.mutation.document?.json.count ?? 0) * 17 / 16
      if !part.isEmpty, callCount + calls > mostCalls || byteCount > mostByteCount - bytes {
        parts.append(part)
        (part, callCount, byteCount) = ([], 1, 0)
      }
      part.append(index)
      callCount += calls
      byteCount += bytes
    }
    return part.isEmpty ? parts : parts + [part]
  }
}

extension KintoBucket {
  /// - Throws: ``RemoteError/malformed(_:)`` for a name that none can have; such an edit is rejected before.
  func record(_ key: RemoteKey) throws(RemoteError) -> String {
    guard let id = KintoName.id(key.key) else {
      throw .malformed("\(key.collection)/\(key.key.prefix(100)) is too long a name for Kinto")
    }
    return try records(key.collection) + "/" + id
  }

  /// Where the stamps of a deleted record are. `_x30_`, a digit that needs no escape, stands in no other id.
  func deletion(_ key: RemoteKey) throws(RemoteError) -> String {
    guard let collection = Self.collectionID(key.collection), let id = KintoName.id(key.key) else {
      throw .malformed("\(key.collection)/\(key.key.prefix(100)) is too long a name for Kinto")
    }
    return try records(KintoRemote.deletions) + "/\(collection)_x30_\(id)"
  }
}

extension KintoReply {
  /// The stamps of the one record that was asked for.
  var stamps: [KintoStamp] { [KintoStamp](hidden: member("_larder")) }
}
