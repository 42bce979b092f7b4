// A stand-in for SwiftUI where there is none: the declarations that `LiveQuery` and the view beside this
// file use, with their names, types and isolation, and nothing behind them. It shows nothing. See
// `Tools/swiftui-names`.

public protocol DynamicProperty {
  mutating func update()
}

extension DynamicProperty {
  public mutating func update() {}
}

@propertyWrapper
public struct State<Value>: DynamicProperty {
  private let value: Value

  public init(wrappedValue value: Value) { self.value = value }
  public init(initialValue value: Value) { self.value = value }

  public var wrappedValue: Value {
    get { value }
    nonmutating set {}
  }

  public var projectedValue: Binding<Value> { Binding(get: { value }, set: { _ in }) }
}

@propertyWrapper
public struct Binding<Value> {
  private let read: () -> Value
  private let write: (Value) -> Void

  public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
    read = get
    write = set
  }

  public var wrappedValue: Value {
    get { read() }
    nonmutating set { write(newValue) }
  }
}

public struct Animation: Equatable, Sendable {
  public static let `default` = Animation()
}

public func withAnimation<Result>(
  _ animation: Animation? = .default, _ body: () throws -> Result
) rethrows -> Result { try body() }

@MainActor @preconcurrency
public protocol View {
  associatedtype Body: View
  @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
  public var body: Never { fatalError("a view without a body") }
}

public struct Text: View {
  nonisolated public init(_ content: some StringProtocol) {}
  public var body: Never { fatalError("a view without a body") }
}

public struct List<Row: View>: View {
  public init<Data: RandomAccessCollection>(
    _ data: Data, rowContent: @escaping (Data.Element) -> Row
  ) where Data.Element: Identifiable {}

  public var body: Never { fatalError("a view without a body") }
}

extension View {
  public func refreshable(action: @escaping @Sendable () async -> Void) -> some View { self }
  public func searchable(text: Binding<String>) -> some View { self }
  public func onChange<Value: Equatable>(
    of value: Value, _ action: @escaping (Value, Value) -> Void
  ) -> some View { self }
}
