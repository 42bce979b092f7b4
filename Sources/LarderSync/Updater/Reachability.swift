/// Knows when there is a network again. `NetworkReachability` is the one of Apple's systems; elsewhere
/// an app brings its own, or calls ``RefreshTrigger/fire()``.
public protocol Reachability: Sendable {
  /// An element each time that a network can be used after none could. Each call begins an observation
  /// of its own, which ends with the task that iterates.
  func connections() -> AsyncStream<Void>
}

// Untested: nothing here is compiled on Linux.
#if canImport(Network)
  internal import Dispatch
  internal import LarderLMDB
  internal import Network

  /// What the system says of its networks. Not tested, as the project has no Apple system.
  public struct NetworkReachability: Reachability {
    public init() {}

    public func connections() -> AsyncStream<Void> {
      let (stream, continuation) = AsyncStream<Void>.makeStream(
        bufferingPolicy: .bufferingNewest(1))
      let monitor = NWPathMonitor()
      // The first report says how things stand, which is no return.
      let wasThere = Locked(true)
      monitor.pathUpdateHandler = { path in
        let isThere = path.status == .satisfied
        let isBack = wasThere.withLock { wasThere in
          defer { wasThere = isThere }
          return isThere && !wasThere
        }
        if isBack { continuation.yield() }
      }
      continuation.onTermination = { _ in monitor.cancel() }
      monitor.start(queue: DispatchQueue(label: "larder.reachability"))
      return stream
    }
  }
#endif
