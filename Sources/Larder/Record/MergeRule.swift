#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How a field is merged that was changed both here and on a server since the two were last equal.
///
/// Declare it with ``Merge(_:)``. Only syncing uses it, which is in `LarderRemote`. A field that only one of the
/// two has changed keeps that change, whatever the rule. No rule asks a clock: an edit that is not sent yet
/// comes after what the server has.
public enum MergeRule: Sendable {
  /// The edit made here wins, because it reaches the server later. Embedded documents are merged field by
  /// field first. This is what fields without a rule have.
  case lastWriter
  /// Both changes of a number are added up: 1, edited to 4 here and to 11 there, becomes 14. A sum that the
  /// field cannot hold becomes the larger one of both values. In a document that was made on both sides the
  /// field began with its default or 0; unless the two documents are equal, which are taken for one that was
  /// stored twice.
  case counter
  /// An array as a set: what either has added is there, and what either has removed is not.
  case set
  /// The larger one of two values: numbers, dates, `true`, text by its scalars.
  case max
  /// What the closure makes of the value that both began with (nil where there was none, or it is not known),
  /// the one here and the one there (nil where the field was removed).
  ///
  /// It is called again whenever a merge is, so that it should depend on its arguments alone. When it throws,
  /// or gives what the field cannot hold, the document becomes a conflict that somebody has to settle.
  case custom(
    @Sendable (_ before: Value?, _ here: Value?, _ there: Value?) throws -> Value?)

  /// The same with values of the property's type: `.custom { (before: String?, here: String?, there: String?)
  /// in ... }`.
  ///
  /// Embedded documents, and types that are stored by their `Codable`, come as ``Value``. A function that you name
  /// here is marked `@Sendable` in Swift 5 mode, and `nonisolated` where all belongs to the main actor by default.
  public static func custom<Property: Storable & SendableMetatype>(
    _ merge:
      @escaping @Sendable (_ before: Property?, _ here: Property?, _ there: Property?) throws ->
      Property?
  ) -> MergeRule {
    .custom { before, here, there in
      let merged = try merge(
        Property(merged: before), Property(merged: here), Property(merged: there))
      return try merged.map { try $0.mergedValue() }
    }
  }
}

// MARK: Values of a type

extension Storable {
  /// The value of this type that a stored one is read as; nil for none.
  fileprivate init?(merged value: Value?) throws(RecordError) {
    guard let value, value != .null || Self._kind.isOptional else { return nil }
    try Self.checkMerged()
    var writer = RecordWriter(binding: .none, capacity: 64)
    writer.putNatural(value)
    let result = writer.withBytes { bytes -> Result<Self, RecordError> in
      guard let start = bytes.baseAddress else { return .failure(.truncated) }
      var reader = ValueReader(start, start + bytes.count, binding: .none, depth: 0)
      do throws(RecordError) {
        return .success(try Self._load(from: &reader))
      } catch {
        return .failure(error)
      }
    }
    self = try result.get()
  }

  fileprivate func mergedValue() throws(RecordError) -> Value {
    try Self.checkMerged()
    return Value(storing: self)
  }

  private static func checkMerged() throws(RecordError) {
    guard _kind.holdsDocuments || _kind == .any else { return }
    throw .invalid(
      "a rule cannot merge values of \(Self.self) by its type: take closures of `Value?`")
  }
}

// MARK: In a schema

extension AnySchema {
  /// The field at the end of a path through embedded documents; nil where none is declared.
  package func mergedField(at path: some Swift.Collection<String>) -> FieldDescription? {
    guard let name = path.first, let field = fields.first(where: { $0.name == name }) else {
      return nil
    }
    if path.count == 1 { return field }
    guard case .document(let reference) = field.kind.unwrapped else { return nil }
    return reference.schema.mergedField(at: path.dropFirst())
  }

  /// Whether a field of it, or of a document inside it, has a rule that `isIt`.
  package func hasMergeRule(where isIt: (MergeRule) -> Bool) -> Bool {
    var seen: Set<ObjectIdentifier> = []
    return hasMergeRule(where: isIt, &seen)
  }

  private func hasMergeRule(
    where isIt: (MergeRule) -> Bool, _ seen: inout Set<ObjectIdentifier>
  ) -> Bool {
    guard seen.insert(ObjectIdentifier(self)).inserted else { return false }
    for field in fields {
      if let rule = field.mergeRule, isIt(rule) { return true }
      if case .document(let reference) = field.kind.unwrapped,
        reference.schema.hasMergeRule(where: isIt, &seen)
      {
        return true
      }
    }
    return false
  }
}

extension FieldDescription {
  /// Whether the field can hold a number.
  package func holds(_ value: Value) -> Bool {
    guard case .integer(let width) = kind.unwrapped else { return true }
    return switch value {
    case .integer(let value): width.holds(value)
    case .unsigned: width == .uint64
    default: true
    }
  }
}
