import CStress
import Foundation

/// A store read with LMDB's own calls and none of the library's. While it is open nobody writes.
final class RawStore {
  private let raw: OpaquePointer

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  init(_ folder: URL) throws {
    var error: Int32 = 0
    guard let raw = stress_raw_open(folder.path, &error) else {
      throw Failed(description: "LMDB does not open \(folder.path): \(Self.text(error))")
    }
    self.raw = raw
  }

  deinit { stress_raw_close(raw) }

  /// How many pages neither a tree nor the list of free pages has; negative where some are counted
  /// twice.
  func leakedPageCount() throws -> Int {
    var pages = stress_pages()
    let status = stress_raw_pages(raw, &pages)
    guard status == 0 else { throw Failed(description: "counting pages: \(Self.text(status))") }
    return Int(pages.total) - Int(pages.reachable) - Int(pages.free)
  }

  /// Lends key and value of each record whose key begins with `prefix`.
  func forEach(
    in database: String, prefix: String = "",
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
  ) throws {
    let status = withoutActuallyEscaping(body) { body in
      var body = body
      return withUnsafeMutablePointer(to: &body) { context in
        stress_raw_each(raw, database, prefix, context) { context, key, keyCount, value, count in
          context?.assumingMemoryBound(to: Body.self).pointee(
            UnsafeRawBufferPointer(start: key, count: keyCount),
            UnsafeRawBufferPointer(start: value, count: count))
        }
      }
    }
    guard status == 0 else { throw Failed(description: "\(database): \(Self.text(status))") }
  }

  private typealias Body = (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void

  private static func text(_ status: Int32) -> String { String(cString: stress_raw_text(status)) }
}
