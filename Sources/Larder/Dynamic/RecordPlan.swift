/// How the documents of a file become records as they stand on a tape, without a tree, a text or a
/// dictionary of their own.
///
/// A node is a place in the documents: what its field takes, and how that is written. The nodes of an
/// object's members are found by the numbers that the reader has given their names, and made when such
/// a member comes for the first time. A document that has anything else in it than its plan says is
/// none of the plan's: whoever has it goes by way of ``DynamicDocument``, which has all the rules.
///
/// Measured with `larder import` of 1,000,000 contacts (343 MB of NDJSON, an EPYC with two busy cores), in
/// seconds of processor time before and with plans: `--dry-run` 13.2 and 0.8, the first import 21.1
/// and 2.8, the second, with all of them unchanged, 30.2 and 2.2. Reading the text alone is 0.6 of each
/// pass. `json.loads` and `executemany` of Python 3, into SQLite: 12.3.
struct RecordPlan: ~Copyable {
  let binding: CollectionBinding
  let conversion: TapeConversion
  /// Allocated once; they are looked at for every value.
  var nodes: [Node] = []
  /// Places of documents, by ``Node/inner``.
  var documents: [Document] = []
  /// What must not change by the documents in such a place; none where everything fits that can be
  /// encoded.
  var shapes: [InferredShape?] = []
  /// The objects of the document that is being written, which are counted once it is known to fit.
  var met: [MetObject] = []
  /// By the numbers of documents.
  var counts: [Count] = []
  var key = PlannedKey()
  private var generation = 0

  /// A place that values stand in.
  struct Node {
    var form = Form.none
    var tokens: Tokens = []
    var width = IntegerKind.int64
    /// The node of the elements, or of a dictionary's values; of a document its number.
    var inner: Int32 = 0
    /// The kind of a ``Form/text``, by its number.
    var kind: Int32 = 0
  }

  /// How what stands there is written.
  enum Form: UInt8 {
    /// By others.
    case none
    case string, bool, integer, float, double
    /// A value that is text in JSON, or a decimal.
    case text
    case any, array, dictionary, document
  }

  /// What may stand in a place.
  struct Tokens: OptionSet, BitwiseCopyable {
    let rawValue: UInt16
    static let null = Tokens(rawValue: 1)
    static let bool = Tokens(rawValue: 2)
    /// Integers from 0 to `Int64.max`, negative ones, and those above.
    static let positive = Tokens(rawValue: 4)
    static let negative = Tokens(rawValue: 8)
    static let unsigned = Tokens(rawValue: 16)
    /// Integers that no double is equal to, besides.
    static let inexact = Tokens(rawValue: 32)
    static let double = Tokens(rawValue: 64)
    static let string = Tokens(rawValue: 128)
    static let uuid = Tokens(rawValue: 256)
    static let array = Tokens(rawValue: 512)
    static let object = Tokens(rawValue: 1024)
    /// A value of the kind that stands there, which is text in JSON.
    static let own = Tokens(rawValue: 2048)
    /// `-0`: an integer among integers, and -0.0 among doubles.
    static let minusZero = Tokens(rawValue: 4096)
    static let everything = Tokens(rawValue: 0xFFFF)
    static let numbers: Tokens = [
      .positive, .negative, .unsigned, .inexact, .double, .minusZero,
    ]
  }

  /// A place that documents stand in.
  struct Document {
    let table: Int
    let slotCount: Int
    let requiredCount: Int
    let place: FieldPlace?
    let rules: KindRules?
    /// By the numbers of their names.
    var members: [Member] = []
    /// Nodes that were made, with the names of their fields.
    var children: [String: Int] = [:]
  }

  /// Objects that stood in a place, and their members together.
  struct Count: BitwiseCopyable {
    var objects = 0
    var members = 0
  }

  struct Member: BitwiseCopyable {
    /// Where its value stands in the record.
    var slot: Int32
    var node: Int32
    var isRequired: Bool

    static let unknown = Member(slot: -2, node: 0, isRequired: false)
    /// One that a document without a plan has.
    static let other = Member(slot: -1, node: 0, isRequired: false)
  }

  struct MetObject: BitwiseCopyable {
    var document: Int32
    var memberCount: Int32
  }

  /// What the plan has kinds for; see ``Node/kind``.
  var kinds: [NodeKind] = []

  struct NodeKind {
    /// As the catalogue has it.
    let kind: Kind<Int>
    /// The kind that text is taken for where it stands for one of it.
    let reading: Kind<Int>?
  }

  /// - Parameter shape: What must not change; nil where everything fits that can be encoded.
  init(
    _ binding: CollectionBinding, shape: InferredShape?, place: FieldPlace?, rules: KindRules?,
    _ conversion: TapeConversion
  ) {
    self.binding = binding
    self.conversion = conversion
    nodes.append(Node())  // That of what a plan has nothing for.
    _ = addDocument(
      table: binding.collection.documentTable, shape, place, rules)
  }

  mutating func addDocument(
    table: Int, _ shape: InferredShape?, _ place: FieldPlace?, _ rules: KindRules?
  ) -> Int {
    let fields = binding.collection.tables[table].fields
    documents.append(
      Document(
        table: table, slotCount: fields.count, requiredCount: fields.count(where: \.isRequired),
        place: place, rules: rules))
    shapes.append(shape)
    counts.append(Count())
    return documents.count - 1
  }

  // MARK: Documents

  /// Begins a document; the numbers of names are those of its tape.
  mutating func begin(_ tape: DocumentTape) {
    met.removeAll(keepingCapacity: true)
    guard tape.generation != generation else { return }
    generation = tape.generation
    key.name = 0
    for number in documents.indices { documents[number].members = [] }
  }

  /// Counts the objects of the document that was written.
  mutating func countMet() {
    for object in met {
      counts[Int(object.document)].objects += 1
      counts[Int(object.document)].members += Int(object.memberCount)
    }
  }

  /// The member of a name in the documents of a place.
  @inline(__always)
  mutating func member(
    _ index: Int, _ name: DocumentTape.Entry, _ tape: DocumentTape, in document: Int
  ) -> Member {
    let number = name.name
    if number < documents[document].members.count {
      let member = documents[document].members[number]
      if member.slot != Member.unknown.slot { return member }
    }
    return find(index, number, tape, in: document)
  }

  @inline(never)
  private mutating func find(
    _ index: Int, _ number: Int, _ tape: DocumentTape, in document: Int
  ) -> Member {
    // A name without a number is one of very many.
    guard number > 0 else { return .other }
    let member = makeMember(tape.string(at: index), in: document)
    while documents[document].members.count <= number {
      documents[document].members.append(.unknown)
    }
    documents[document].members[number] = member
    return member
  }
}

/// What text in a file stands for, as those know who read it.
package struct TapeConversion: Sendable {
  /// The value of a kind that text stands for; nil where it stands for itself.
  let value: @Sendable (String, Kind<Int>) -> Value?
  /// Whether an object whose only member has this name may be a value of another kind.
  let isTag: @Sendable (String) -> Bool

  package init(
    value: @escaping @Sendable (String, Kind<Int>) -> Value?,
    isTag: @escaping @Sendable (String) -> Bool
  ) {
    self.value = value
    self.isTag = isTag
  }
}
