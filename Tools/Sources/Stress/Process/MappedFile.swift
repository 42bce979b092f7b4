import CStress
import Foundation

/// Words in a file that several processes have mapped. What one has written stays when it is
/// killed, up to the instruction.
// Guard: words are written by one process each, or by atomic addition.
final class MappedFile: @unchecked Sendable {
  let wordCount: Int
  /// For those who write much; as long as this lives.
  let words: UnsafeMutablePointer<UInt64>

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// Maps the file, which is made, or made larger, where it must.
  init(_ url: URL, wordCount: Int) throws {
    let byteCount = wordCount * 8
    let descriptor = open(url.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw Failed(description: "\(url.path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0,
      Int(status.st_size) >= byteCount || ftruncate(descriptor, off_t(byteCount)) == 0,
      let start = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      start != MAP_FAILED
    else { throw Failed(description: "\(url.path): \(String(cString: strerror(errno)))") }
    words = start.bindMemory(to: UInt64.self, capacity: wordCount)
    self.wordCount = wordCount
  }

  deinit { munmap(words, wordCount * 8) }

  /// A word, of which whoever reads it sees everything that was written before it.
  subscript(_ place: Int) -> UInt64 {
    get {
      precondition(place < wordCount, "a place outside the mapped file")
      return stress_load(words + place)
    }
    set {
      precondition(place < wordCount, "a place outside the mapped file")
      stress_store(words + place, newValue)
    }
  }

  func add(_ value: UInt64, at place: Int) {
    precondition(place < wordCount, "a place outside the mapped file")
    _ = stress_add(words + place, value)
  }
}
