import Foundation
import Larder

@Document
struct Note: Identifiable, Equatable {
  var id: Int
  var text: String
  @Indexed var isDone = false
  var createdAt: Date

  /// What is left to do, the oldest first.
  static let open = Note.where { !$0.isDone }.sorted(by: \.id)
}
