internal import Foundation

/// One line of a script: what to do, and with what.
///
/// ```
/// {"do": "find", "text": "harbour"}
/// {"do": "rate", "number": 4}
/// ```
struct RemoteCommand: Decodable, Equatable {
  let action: String
  var text: String?
  var number: Int?

  enum CodingKeys: String, CodingKey {
    case action = "do"
    case text, number
  }

  init(_ action: String, text: String? = nil, number: Int? = nil) {
    self.action = action
    self.text = text
    self.number = number
  }

  /// - Throws: ``RemoteRefusal`` for a line that is no command.
  init(line: String) throws {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(line.utf8))
    } catch {
      throw RemoteRefusal("this is no command: \(line)")
    }
  }

  /// - Throws: ``RemoteRefusal`` when there is none.
  func requireText() throws -> String {
    guard let text else { throw RemoteRefusal("\"\(action)\" needs a \"text\"") }
    return text
  }

  /// - Throws: ``RemoteRefusal`` when there is none.
  func requireNumber() throws -> Int {
    guard let number else { throw RemoteRefusal("\"\(action)\" needs a \"number\"") }
    return number
  }
}

/// Why a command was not done.
struct RemoteRefusal: Error {
  let text: String

  init(_ text: String) { self.text = text }
}
