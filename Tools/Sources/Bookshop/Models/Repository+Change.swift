internal import Larder

extension Repository {
  /// Changes the stored model in place, so that what somebody else changes at the same time is not
  /// undone.
  ///
  /// - Parameters:
  ///   - model: Names the model by its key; where none is stored, it is changed and saved instead.
  ///   - body: Runs inside the write, on the stored model.
  /// - Throws: `StoreError`; nothing is changed then.
  func change(_ model: Model, _ body: @escaping @Sendable (inout Model) -> Void) throws {
    try save([changed(model, body)], onConflict: .merge { stored, _ in changed(stored, body) })
  }
}

private func changed<Model>(_ model: Model, _ body: (inout Model) -> Void) -> Model {
  var model = model
  body(&model)
  return model
}
