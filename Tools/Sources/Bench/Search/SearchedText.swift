import Larder

/// A paragraph that is searched, its title counted three times.
@Document struct SearchedText: Equatable {
  var id: Int
  @Searchable(weight: 3) var title: String
  @Searchable var body: String
}

/// The same without a search index.
@Document struct PlainText: Equatable {
  var id: Int
  var title: String
  var body: String
}

/// A type whose texts can be stored.
protocol StudiedText: Document where Key == Int {
  init(id: Int, title: String, body: String)
}

extension SearchedText: StudiedText {}
extension PlainText: StudiedText {}
