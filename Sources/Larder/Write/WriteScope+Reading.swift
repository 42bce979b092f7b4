internal import LarderLMDB

extension WriteScope: Reading {
  public borrowing func withMoment<Result>(
    _ body: (borrowing Moment) throws -> Result
  ) rethrows -> Result {
    try body(Moment(transaction, catalogue))
  }
}
