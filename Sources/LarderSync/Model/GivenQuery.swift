internal import Larder

/// What a view keeps of a ``LiveQuery``: the model, and the query that the view was last made with.
///
/// A view is made anew each time that the view around it changes, mostly with the query that it had.
/// Only another one is handed to the model, so that a query which the view itself has set stays.
@MainActor final class GivenQuery<Model: Sendable, Entity: Document> {
  let model: QueryModel<Model, Entity>
  private var query: Query<Entity>

  init(_ model: QueryModel<Model, Entity>) {
    self.model = model
    query = model.query
  }

  /// The view is about to be drawn, and was made with this query.
  func update(_ query: Query<Entity>) {
    if query != self.query {
      self.query = query
      model.query = query
    }
    model.start()
  }
}
