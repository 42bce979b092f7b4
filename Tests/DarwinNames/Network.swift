// A stand-in for Network: the declarations that `NetworkReachability` uses, with their names and types,
// and nothing behind them. See `Tools/check-darwin`.

public import Dispatch

public struct NWPath: Equatable, Sendable {
  public enum Status: Sendable {
    case satisfied
    case unsatisfied
    case requiresConnection
  }

  public let status: Status
}

public final class NWPathMonitor: Sendable {
  public init() {}

  public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
    get { nil }
    set {}
  }

  public func start(queue: DispatchQueue) {}
  public func cancel() {}
}
