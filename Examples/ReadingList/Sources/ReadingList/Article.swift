import Foundation
import Larder

@Document
public struct Article: Identifiable, Equatable {
  public var id: Int
  public var title: String
  @Indexed public var savedAt: Date
  /// The server does not know it.
  public var isRead = false

  public init(id: Int, title: String, savedAt: Date) {
    self.id = id
    self.title = title
    self.savedAt = savedAt
  }
}
