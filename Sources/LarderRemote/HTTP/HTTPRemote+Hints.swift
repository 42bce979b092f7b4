internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension HTTPRemote {
  /// Hints of the server, if ``facts()`` has said that it gives any and
  /// ``HTTPRemoteOptions/takesHints`` is true. The stream ends when the server ends it, and
  /// throws ``RemoteError`` where it breaks off, or is silent for longer than
  /// ``HTTPRemoteOptions/longestSilence``. Releasing it closes the connection.
  public func hints(_ scopes: [String]) -> AsyncThrowingStream<String, any Error>? {
    guard options.takesHints, !scopes.isEmpty, knownFacts.withLock({ $0?.hasHints ?? false }) else {
      return nil
    }
    // Whoever does not listen for so long needs no more than to hear that there is something.
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: String.self, bufferingPolicy: .bufferingNewest(1000))
    let task = Task {
      do {
        try await follow(scopes) { continuation.yield($0) }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  private func follow(
    _ scopes: [String], _ tell: @escaping @Sendable (String) -> Void
  ) async throws {
    let request = HTTPRequest(
      url: try address("hints", query: scopes.map { ("scope", $0) }), accepts: "text/event-stream")
    #if canImport(FoundationNetworking)
      // The stream is the second request of its connection then, unless another one is faster: the first would keep
      // a processor busy. Whether anything is wrong shows with the stream.
      _ = try? await facts()
    #endif
    let lines = Locked(EventLines())
    let wanted = Set(scopes)
    _ = try await send(request) { data in
      for event in try lines.withLock({ try $0.take(data) }) where event.name == "changed" {
        let reader = try AnswerReader(Array(event.data.utf8), "a hint")
        let scope = try reader.text(of: "scope", in: reader.root, byteCount: 1...65_536)
        if wanted.contains(scope) { tell(scope) }
      }
    }
  }
}
