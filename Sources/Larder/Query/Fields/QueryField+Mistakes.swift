// Overloads that the compiler picks last: their messages say what to write instead.

extension QueryField {
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      a field is compared with a value of its own type, and this value is of another: convert the \
      value first, compare another field, write the case of an enum, as in `$0.kind == .letter`, or \
      ask a list for what it `contains`
      """
  )
  public static func == <Other: Comparand>(field: Self, value: Other) -> Filter<Entity> {
    fatalError("unavailable")
  }

  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      a field is compared with a value of its own type, and this value is of another: convert the \
      value first, compare another field, write the case of an enum, as in `$0.kind == .letter`, or \
      ask a list for what it `contains`
      """
  )
  public static func != <Other: Comparand>(field: Self, value: Other) -> Filter<Entity> {
    fatalError("unavailable")
  }
}
