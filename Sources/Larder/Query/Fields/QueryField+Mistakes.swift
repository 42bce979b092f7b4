// Overloads that the compiler picks last: their messages say what to write instead.

extension QueryField where Value: FieldValue {
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      a field is compared with a value of its own type, and this value is of another: convert the \
      value first, or compare another field
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
      value first, or compare another field
      """
  )
  public static func != <Other: Comparand>(field: Self, value: Other) -> Filter<Entity> {
    fatalError("unavailable")
  }
}
