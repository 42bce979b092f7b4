/// What the values of one part of an index are: one kind has one order and one encoding.
enum IndexScalar: UInt8, Sendable {
  case bool = 1
  case integer, double, float, string, data, date, uuid, url, decimal

  /// Nil for kinds that are not compared, or not with one another.
  init?<Reference>(_ kind: Kind<Reference>) {
    switch kind {
    case .optional(let inner):
      if case .optional = inner { return nil }
      self.init(inner)
    case .bool: self = .bool
    case .integer: self = .integer
    case .double: self = .double
    case .float: self = .float
    case .string: self = .string
    case .data: self = .data
    case .date: self = .date
    case .uuid: self = .uuid
    case .url: self = .url
    case .decimal: self = .decimal
    default: return nil
    }
  }
}
