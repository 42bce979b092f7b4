// A stand-in for Combine: the declarations that a publisher needs, with their names and types, and
// nothing behind them. See `Tools/check-darwin`.

public protocol Publisher<Output, Failure> {
  associatedtype Output
  associatedtype Failure: Error
  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure
}

public struct CombineIdentifier: Hashable, Sendable {
  public init() {}
}

public protocol CustomCombineIdentifierConvertible {
  var combineIdentifier: CombineIdentifier { get }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
  public var combineIdentifier: CombineIdentifier { CombineIdentifier() }
}

public protocol Cancellable {
  func cancel()
}

public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
  func request(_ demand: Subscribers.Demand)
}

public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
  associatedtype Input
  associatedtype Failure: Error
  func receive(subscription: any Subscription)
  func receive(_ input: Input) -> Subscribers.Demand
  func receive(completion: Subscribers.Completion<Failure>)
}

public enum Subscribers {
  public struct Demand: Equatable, Comparable, Hashable, Sendable {
    public static let none = Demand()
    public static let unlimited = Demand()
    public static func max(_ value: Int) -> Demand { Demand() }
    public static func += (left: inout Demand, right: Demand) {}
    public static func -= (left: inout Demand, right: Int) {}
    public static func > (left: Demand, right: Int) -> Bool { false }
    public static func < (left: Demand, right: Demand) -> Bool { false }
  }

  public enum Completion<Failure: Error> {
    case finished
    case failure(Failure)
  }
}
