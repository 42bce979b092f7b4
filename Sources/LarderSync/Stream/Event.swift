/// One element of a stream that failures do not end: a value, something that went wrong, or how fresh
/// the values are.
public enum Event<Value: Sendable>: Sendable {
  case value(Value)
  case failure(any Error)
  /// When the values were last refreshed, and whether they are being refreshed.
  case refresh(RefreshState)
}

extension Event {
  /// The value, if it is one.
  public var value: Value? {
    switch self {
    case .value(let value): value
    case .failure, .refresh: nil
    }
  }

  /// What went wrong, if something did.
  public var error: (any Error)? {
    switch self {
    case .value, .refresh: nil
    case .failure(let error): error
    }
  }

  /// How fresh the values are, if it says so.
  public var refresh: RefreshState? {
    switch self {
    case .value, .failure: nil
    case .refresh(let state): state
    }
  }

  /// The event of what `transform` makes of a value; nil where it makes nothing. Other events
  /// stay.
  public func compactMap<Other>(_ transform: (Value) -> Other?) -> Event<Other>? {
    switch self {
    case .value(let value): transform(value).map { .value($0) }
    case .failure(let error): .failure(error)
    case .refresh(let state): .refresh(state)
    }
  }
}

extension Event: Equatable where Value: Equatable {
  /// Failures are equal when they say the same.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.value(let left), .value(let right)): left == right
    case (.failure(let left), .failure(let right)): "\(left)" == "\(right)"
    case (.refresh(let left), .refresh(let right)): left == right
    default: false
    }
  }
}

/// What is an ``Event``, so that operators can speak of sequences of them.
public protocol EventConvertible<Value>: Sendable {
  associatedtype Value: Sendable
  var event: Event<Value> { get }
}

extension Event: EventConvertible {
  /// Itself.
  public var event: Event<Value> { self }
}
