/// A transaction of either kind, which somebody else ends.
///
/// What reads in both kinds takes this one, so that it is compiled once and not for each: as a generic
/// function the walk along an index was a sixth of the library's machine code.
package struct LentTransaction: ~Copyable, Transaction {
  package let handle: TransactionHandle

  /// Valid as long as `transaction` is.
  package init(_ transaction: borrowing some Transaction & ~Copyable) {
    handle = transaction.handle
  }

  /// Valid as long as the transaction that the handle is of.
  package init(_ handle: TransactionHandle) { self.handle = handle }
}
