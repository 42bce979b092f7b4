import Foundation
import Larder

struct Recipe: Codable, Identifiable, Sendable, Equatable {
  struct Step: Codable, Sendable, Equatable {
    var text: String
    var minutes: Int?
  }

  enum Course: Codable, Equatable {
    case main
    case side(of: String)
  }

  var id: UUID
  var title: String
  var course = Course.main
  var steps: [Step] = []
  var servings: Int?
}

func plainTypesExample(_ recipes: [Recipe], _ store: Store) throws -> [String] {
  let repository = store.repository(of: Recipe.self)
  try repository.save(recipes)

  let open = repository.where { $0.servings == nil }
  let titles = try repository.fetch(open.sorted(by: \.title)).map(\.title)

  try store.write { tx in
    for recipe in recipes {
      try tx.update(CodableDocument<Recipe>.self, recipe.id) { $0.model.servings = 4 }
    }
  }
  return titles
}
