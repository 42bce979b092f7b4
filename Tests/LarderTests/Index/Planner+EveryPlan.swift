import LarderLMDB

@testable import Larder

extension Transaction where Self: ~Copyable {
  /// Every way there is to answer; they differ in cost alone.
  borrowing func everyPlan(of selection: Selection, in collection: Collection) throws -> [Plan] {
    try Planner(selection, collection).everyPlan(LentTransaction(self))
  }
}

extension Planner {
  fileprivate func everyPlan(_ transaction: borrowing LentTransaction) throws -> [Plan] {
    var indexes: [CollectionIndex] = []
    for index in collection.indexes where try transaction.knowsAllDocuments(index) {
      indexes.append(index)
    }
    var plans = [scan(0)]
    if let keyPlan = keyPlan() { plans.append(keyPlan) }
    let usable = indexes.compactMap { IndexAccess($0, conditions) }
    let sorted = selection.order.isEmpty ? Plan.Order.keys : .sort
    for access in usable {
      plans.append(plan(.index(access), sorted, access.settled, 0, isExact: false))
      if let order = access.direction(for: selection.order) {
        plans.append(plan(.index(access), .index(order), access.settled, 0, isExact: false))
      }
      for other in usable
      where other.index !== access.index && access.isInKeyOrder && other.isInKeyOrder {
        plans.append(
          plan(
            .intersection(access, other), sorted, access.settled.union(other.settled), 0,
            isExact: false))
      }
    }
    for union in try conditions.indices.compactMap({ try union(at: $0, transaction) }) {
      plans.append(plan(.union(union), sorted, ConditionPlaces(), 0, isExact: false))
    }
    return plans
  }
}

extension Snapshot {
  /// The keys that each plan of a query gives, in its order.
  borrowing func everyAnswer(
    to selection: Selection, _ binding: CollectionBinding
  ) throws -> [(plan: Plan, keys: [[UInt8]])] {
    try transaction.everyPlan(of: selection, in: binding.collection).map { plan in
      var keys: [[UInt8]] = []
      try Execution(plan, selection, binding).forEach(in: transaction, wanted: .max) { key, _ in
        keys.append([UInt8](key))
        return true
      }
      return (plan, keys)
    }
  }
}

extension Plan {
  /// Whether it looks at every document.
  var isScan: Bool { if case .everything = source { true } else { false } }
}
