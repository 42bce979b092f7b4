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

extension QueryField where Value == Bool? {
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      the field is nil in some documents: write `$0.field == false`, or `!= true` for nil as well
      """
  )
  public static prefix func ! (field: Self) -> Filter<Entity> { fatalError("unavailable") }
}

extension Query {
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "the field is nil in some documents: write `where { $0.field == true }`"
  )
  public func `where`(_ condition: (Fields<Entity>) -> QueryField<Entity, Bool?>) -> Self {
    fatalError("unavailable")
  }
}

extension Document {
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "the field is nil in some documents: write `where { $0.field == true }`"
  )
  public static func `where`(
    _ condition: (Fields<Self>) -> QueryField<Self, Bool?>
  ) -> Query<Self> {
    fatalError("unavailable")
  }
}

extension QueryField {
  @_disfavoredOverload
  @available(*, unavailable, message: "write the field on the left, as in `$0.age == 18`")
  public static func == <Other: Comparand>(value: Other, field: Self) -> Filter<Entity> {
    fatalError("unavailable")
  }

  @_disfavoredOverload
  @available(*, unavailable, message: "write the field on the left, as in `$0.age != 18`")
  public static func != <Other: Comparand>(value: Other, field: Self) -> Filter<Entity> {
    fatalError("unavailable")
  }

  @_disfavoredOverload
  @available(*, unavailable, message: "write the field on the left, as in `$0.age > 18`")
  public static func < <Other: Comparand>(value: Other, field: Self) -> Filter<Entity> {
    fatalError("unavailable")
  }

  @_disfavoredOverload
  @available(*, unavailable, message: "write the field on the left, as in `$0.age < 18`")
  public static func > <Other: Comparand>(value: Other, field: Self) -> Filter<Entity> {
    fatalError("unavailable")
  }

  @_disfavoredOverload
  @available(*, unavailable, message: "write the field on the left, as in `$0.age >= 18`")
  public static func <= <Other: Comparand>(value: Other, field: Self) -> Filter<Entity> {
    fatalError("unavailable")
  }

  @_disfavoredOverload
  @available(*, unavailable, message: "write the field on the left, as in `$0.age <= 18`")
  public static func >= <Other: Comparand>(value: Other, field: Self) -> Filter<Entity> {
    fatalError("unavailable")
  }
}
