/// Makes a struct a ``Document``: writes its schema, its coding and its key from its stored
/// properties.
///
/// ```swift
/// @Document
/// struct Contact: Equatable {
///   var id: String
///   @Stored(as: "tel") var phone = ""
///   @Indexed var city: String
///   var geo: Geo?
/// }
/// ```
/// The key is the property `id`, or the one that is marked ``Key()``; with an `entityAccessorKey` of the
/// type's own it is what that returns. A property's initial value
/// serves records that lack it; it is computed once, when the type is first used. A property whose
/// type is not ``Storable`` is stored by way of its `Codable`, which is slower and cannot be
/// indexed. Computed, lazy and static properties are left alone. Generic types are written by hand,
/// and so can be everything else: see <doc:Models>.
///
/// - Parameter name: The collection's name; the type's own if there is none.
@attached(member, names: named(schema), named(encode), named(entityAccessorKey), named(search))
@attached(extension, conformances: Document, Searchable, names: named(init))
public macro Document(as name: StaticString? = nil) =
  #externalMacro(module: "LarderMacros", type: "Document")

/// Makes a struct an ``EmbeddedDocument``, which is stored inside others and has no key: writes its
/// schema and its coding, as ``Document(as:)`` does.
@attached(member, names: named(schema), named(encode))
@attached(extension, conformances: EmbeddedDocument, names: named(init))
public macro EmbeddedDocument() =
  #externalMacro(module: "LarderMacros", type: "EmbeddedDocument")

/// Marks the property that identifies a ``Document(as:)``, where it is not `id`, or where the type has an
/// `entityAccessorKey` of its own that returns it.
@attached(peer)
public macro Key() = #externalMacro(module: "LarderMacros", type: "Key")

/// Gives a property of a ``Document(as:)`` an index of its own; an array or a set has an entry per
/// element.
///
/// Indexes over several properties, and partial ones, are declared in ``Document/indexes``.
///
/// Give it no default that is another value in each process, such as `Date()` or `UUID()`: see ``Index``.
///
/// - Parameters:
///   - unique: Whether two documents with equal values are refused; nil and NaN equal nothing.
///   - descending: Whether the largest comes first.
@attached(peer)
public macro Indexed(unique: Bool = false, descending: Bool = false) =
  #externalMacro(module: "LarderMacros", type: "Indexed")

/// Has the words of a property searched: a text, an array or a set of texts, or an embedded document with
/// searchable properties of its own.
///
/// ```swift
/// @Document
/// struct Note: Identifiable {
///   var id: UUID
///   @Searchable(weight: 3) var title: String
///   @Searchable var body = ""
/// }
///
/// let found = try notes.fetch(Note.search("blue winter", prefix: .last).limit(20))
/// ```
/// The type becomes ``Searchable``: its documents have one search index over all these properties, which
/// every save keeps in its transaction.
///
/// - Parameter weight: How much a word counts here, 1 to 100. That of an embedded document multiplies those of
///   its properties.
@attached(peer)
public macro Searchable(weight: Int = 1) =
  #externalMacro(module: "LarderMacros", type: "Searchable")

/// Gives the name that a property is stored under, where it is not its own: what a property that
/// was renamed needs to find its values again.
@attached(peer)
public macro Stored(as name: StaticString) =
  #externalMacro(module: "LarderMacros", type: "Stored")

/// Leaves a property out of the record. It has its initial value after reading.
@attached(peer)
public macro Transient() = #externalMacro(module: "LarderMacros", type: "Transient")

/// Says how a property is merged that was changed both here and on a server, in documents that are synced.
///
/// ```swift
/// @Document
/// struct Item: Identifiable {
///   var id: String
///   var name: String
///   @Merge(.counter) var litres = 0
///   @Merge(.set) var shops: [String] = []
///   @Merge(.max) var seenAt: Date?
///   @Merge(.custom { (_: String?, here: String?, there: String?) in "\(there ?? "")\n\(here ?? "")" })
///   var notes = ""
/// }
/// ```
/// Without it the last writer wins. Properties of an ``EmbeddedDocument()`` can have rules too, which hold
/// where the document is a property itself, and not where it is in an array, a set or a dictionary.
///
/// The rule is a part of the type and not of the store: all versions of an app should have the same.
///
/// - Parameter rule: `.lastWriter`, `.counter`, `.set`, `.max` or `.custom { ... }`, written here: the macro
///   checks it against the property's type.
@attached(peer)
public macro Merge(_ rule: MergeRule) = #externalMacro(module: "LarderMacros", type: "Merge")
