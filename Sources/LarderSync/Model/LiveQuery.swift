// Untested: nothing here is compiled on Linux.
#if canImport(SwiftUI)
  public import Larder
  public import SwiftUI

  /// A watched query in a SwiftUI view.
  ///
  /// ```swift
  /// struct ContactList: View {
  ///   @LiveQuery private var contacts: Rows<Contact>
  ///
  ///   init(_ repository: any Repository<Contact, Contact>, updater: any Updater) {
  ///     _contacts = LiveQuery(repository, Contact.all.sorted(by: \.name), refreshedBy: updater)
  ///   }
  ///
  ///   var body: some View {
  ///     List(contacts) { Text($0.name) }
  ///       .refreshable { await $contacts.refresh() }
  ///   }
  /// }
  /// ```
  /// The projected value is the ``QueryModel`` behind it. Not tested, as the project has no Apple
  /// system.
  @MainActor @propertyWrapper
  public struct LiveQuery<Model: Sendable>: @preconcurrency DynamicProperty {
    @State private var model: QueryModel<Model>

    public init<Entity>(
      _ repository: any Repository<Model, Entity>, _ query: Query<Entity>,
      refreshedBy updater: (any Updater)? = nil, animation: Animation? = .default
    ) {
      _model = State(
        initialValue: QueryModel(repository, query, refreshedBy: updater) { change, apply in
          // The first rows are there; they do not come in.
          if case .initial = change { apply() } else { withAnimation(animation) { apply() } }
        })
    }

    public var wrappedValue: Rows<Model> { model.rows }
    public var projectedValue: QueryModel<Model> { model }

    public func update() { model.start() }
  }
#endif
