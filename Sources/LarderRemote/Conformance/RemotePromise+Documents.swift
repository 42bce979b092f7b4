/// Documents that come back as they went.
extension RemotePromise {
  static var documentPromises: [RemotePromise] {
    [
      RemotePromise("what is pushed is pulled, with the revision that was answered") { trial in
        let cursor = try await trial.end()
        let key = trial.newKey()
        let document = trial.document(#"{"title":"Milk"}"#)

        let revision = try await trial.store(key, nil, document)

        var copy = RemoteCopy()
        _ = try await trial.read(nil, cursor, into: &copy) { $0.has(key, revision) }
        try trial.expect(copy, has: key, revision, document)
        return "1 document"
      },
      RemotePromise("every JSON text comes back as the value that it was") { trial in
        let cursor = try await trial.end()
        var revisions: [RemoteKey: (revision: String, document: RemoteDocument)] = [:]
        for text in awkwardTexts {
          let key = trial.newKey()
          let document = trial.document(text)
          revisions[key] = (try await trial.store(key, nil, document), document)
        }

        var copy = RemoteCopy()
        _ = try await trial.read(nil, cursor, into: &copy) { copy in
          revisions.allSatisfy { copy.has($0.key, $0.value.revision) }
        }
        for (key, sent) in revisions {
          try trial.expect(copy, has: key, sent.revision, sent.document)
        }
        return "\(awkwardTexts.count) texts"
      },
      RemotePromise("every key comes back as it was, and is told from those that look like it") {
        trial in
        let cursor = try await trial.end()
        // The two é are equal to Swift, and two keys to a server.
        let keys = [
          "/", " x ", "%2F", "\"\\", "\t", "é", "e\u{301}", "É", "日本", "👩‍👩‍👧", "a.b:c;d", "*", "_",
          "'--",
          String(repeating: "k", count: 150),
        ].map { trial.newKey($0) }
        var revisions: [RemoteKey: String] = [:]
        for key in keys {
          revisions[key] = try await trial.store(key, nil, trial.document(#"{"key":1}"#))
        }

        var copy = RemoteCopy()
        _ = try await trial.read(nil, cursor, into: &copy) { copy in
          revisions.allSatisfy { copy.has($0.key, $0.value) }
        }
        for (key, revision) in revisions where !copy.has(key, revision) {
          throw BrokenPromise(
            "the key \(key.key.debugDescription) was accepted and did not come back")
        }
        return "\(keys.count) keys"
      },
    ]
  }

  private static let awkwardTexts = [
    "{}", #"{"":""}"#, #"{"a":null,"b":[],"c":{},"d":[[],{}],"e":true,"f":false}"#,
    #"{"i":9007199254740993,"j":9223372036854775807,"k":-9223372036854775808}"#,
    #"{"u":18446744073709551615}"#, #"{"zero":-0.0,"integer":-0}"#,
    #"{"decimals":[0.1,1.10,123456789.123456789,1e-7,2.5E+3,5e-324,1.7976931348623157e308]}"#,
    #"{"long":3.14159265358979323846264338327950288419716939937510}"#,
    #"{"é":1,"e\u0301":2,"日本":"👩‍👩‍👧","\ud83d\ude00":"\ud83d\ude00"}"#,
    #"{"text":"\"\\\/\b\f\n\r\t\u001f\u007f\u2028","quotes":"'; drop table x; --","%s":"%00"}"#,
    #"{"b":1,"a":{"d":1,"c":[3,1,2]},"document":{"deleted":true},"deleted":false,"revision":"x"}"#,
    #"{"deep":"# + String(repeating: "[", count: 98) + String(repeating: "]", count: 98) + "}",
    #"{"wide":""# + String(repeating: "0123456789abcdef", count: 4096) + #""}"#,
  ]
}

extension RemoteTrial {
  func expect(
    _ copy: RemoteCopy, has key: RemoteKey, _ revision: String, _ document: RemoteDocument
  ) throws {
    guard let version = copy.versions[key] else {
      throw BrokenPromise("\(key) was accepted as \(revision), and no pull gives it")
    }
    guard version.revision == revision else {
      throw BrokenPromise(
        "\(key) should have revision \(revision), and comes as \(version.revision)")
    }
    guard let found = version.document else {
      throw BrokenPromise("\(key) was accepted as a document, and comes as deleted")
    }
    guard found.isSame(as: document) else {
      throw BrokenPromise(
        "\(key) was sent as \(document.description.prefix(200)) and comes back as "
          + "\(found.description.prefix(200))")
    }
  }
}
