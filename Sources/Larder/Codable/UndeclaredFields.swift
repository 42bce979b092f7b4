enum UndeclaredFields {
  typealias Needed = FieldsNeeded
}
