// Not compiled on Linux, where `Tools/swiftui-names` checks its names and types against a stub.
#if canImport(SwiftUI)
  public import Larder
  public import SwiftUI

  /// A watched query in a SwiftUI view.
  ///
  /// ```swift
  /// struct ContactList: View {
  ///   @LiveQuery<Contact, Contact> private var contacts: Rows<Contact>
  ///
  ///   init(_ repository: any Repository<Contact, Contact>, in city: String) {
  ///     _contacts = LiveQuery(
  ///       repository, Contact.where { $0.city == city }.sorted(by: \.name))
  ///   }
  ///
  ///   var body: some View {
  ///     List(contacts) { Text($0.name) }
  ///       .refreshable { await $contacts.refresh() }
  ///   }
  /// }
  /// ```
  /// A view that is made with another query shows that one; the old rows stay until the new ones were
  /// read. The repository and the updater are those of the first time: give the view another `id(_:)`
  /// to change them. The projected value is the ``QueryModel`` behind it, whose query the view may set
  /// itself, for example to search.
  ///
  /// Names and types are checked, but nothing was ever run: the project has no Apple system.
  @MainActor @propertyWrapper
  public struct LiveQuery<Model: Sendable, Entity: Document>: @preconcurrency DynamicProperty {
    @State private var given: GivenQuery<Model, Entity>
    private let query: Query<Entity>

    public init(
      _ repository: any Repository<Model, Entity>, _ query: Query<Entity>,
      pageSize: Int? = nil, refreshedBy updater: (any Updater)? = nil,
      animation: Animation? = .default
    ) {
      self.query = query
      _given = State(
        initialValue: GivenQuery(
          QueryModel(repository, query, pageSize: pageSize, refreshedBy: updater) {
            change, apply in
            // The first rows of a query are there; they do not come in.
            if case .initial = change { apply() } else { withAnimation(animation) { apply() } }
          }))
    }

    public var wrappedValue: Rows<Model> { given.model.rows }
    public var projectedValue: QueryModel<Model, Entity> { given.model }

    public func update() { given.update(query) }
  }
#endif
