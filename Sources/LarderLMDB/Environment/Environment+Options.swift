extension Environment {
  public typealias Options = EnvironmentOptions

  /// - Throws: Where this process has the store open with other options than `asked`.
  func check(asked: Options) throws(LMDBError) {
    let names = options.differences(from: asked)
    if names.isEmpty { return }
    throw LMDBError(
      .optionsDiffer(names), operation: "open", path: folder,
      detail: "this process has the store open already, with other options "
        + "(\(names.joined(separator: ", ")))")
  }
}
