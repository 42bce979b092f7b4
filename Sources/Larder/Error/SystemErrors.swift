#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The system's numbers of failures that the store tells apart, most of which mean that there is no room.
enum SystemErrors {
  static let noSpace: Set<Int32> = [ENOSPC, EDQUOT]
  static let tooLargeFile = EFBIG
  static let inputOutput = EIO
  static let cancelled = ECANCELED
}
