#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Something that is wrong with a page of a store's file.
public struct PageFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// The number of the page, from 0.
  public let page: Int
  public let reason: String

  public var description: String { "page \(page): \(reason)" }
}

/// What a walk over all pages of a store found.
public struct PageReport: Equatable, Sendable {
  public internal(set) var pageByteCount = 0
  /// Pages of the file.
  public internal(set) var pageCount = 0
  /// Pages that hold trees, values and meta data.
  public internal(set) var usedPageCount = 0
  /// Pages that the next writes may use again.
  public internal(set) var freePageCount = 0
  /// The first ones; a walk ends at ``maximumFaultCount``.
  public internal(set) var faults: [PageFault] = []
  /// False when the walk was ended early, by its caller or by too many faults.
  public internal(set) var isComplete = true

  public static let maximumFaultCount = 100

  public var isSound: Bool { faults.isEmpty }
}

extension PageFault: LocalizedError {
  public var errorDescription: String? { description }
}
