public import Larder

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Says whether a repository behaves as those of Larder do.
///
/// ```swift
/// try await RepositoryConformance().check { MyRepository<RepositoryConformance.Sample>() }
/// ```
/// First come facts, each in a new repository; then random operations, after each of which the
/// repository is compared with a Swift dictionary. Nothing of a testing framework is needed: what
/// is not so is thrown, and says how to repeat it.
public struct RepositoryConformance: Sendable {
  /// What the random operations follow from.
  public var seed: UInt64
  /// How many random operations there are.
  public var operationCount: Int

  /// A run of random operations. The seed is printed with each failure; give it again to repeat the run.
  public init(seed: UInt64 = .random(in: 0...999_999), operationCount: Int = 300) {
    self.seed = seed
    self.operationCount = operationCount
  }

  /// Checks an implementation for documents without a mapper.
  ///
  /// - Parameters:
  ///   - isolation: The actor whose state `make` may use: the caller's.
  ///   - make: Makes a new, empty repository each time.
  /// - Throws: ``ConformanceFailure`` for the first thing that is not as it should be; whatever
  ///   `make` throws.
  public func check(
    isolation: isolated (any Actor)? = #isolation,
    _ make: () throws -> any Repository<Sample, Sample>
  ) async throws {
    try await check(PlainSubject(), make)
  }

  /// Checks an implementation for domain models that a ``SampleMapper`` maps.
  ///
  /// - Parameters:
  ///   - isolation: The actor whose state `make` may use: the caller's.
  ///   - make: Makes a new, empty repository each time.
  /// - Throws: As ``check(isolation:_:)``.
  public func checkMapped(
    isolation: isolated (any Actor)? = #isolation,
    _ make: () throws -> any Repository<SampleModel, Sample>
  ) async throws {
    try await check(MappedSubject(), make)
  }

  /// Checks an implementation for plain `Codable` types.
  ///
  /// - Parameters:
  ///   - isolation: The actor whose state `make` may use: the caller's.
  ///   - make: Makes a new, empty repository each time.
  /// - Throws: As ``check(isolation:_:)``.
  public func checkCodable(
    isolation: isolated (any Actor)? = #isolation,
    _ make: () throws -> any Repository<CodableSample, CodableDocument<CodableSample>>
  ) async throws {
    try await check(CodableSubject(), make)
  }

  private func check<Subject: ConformanceSubject>(
    isolation: isolated (any Actor)? = #isolation,
    _ subject: Subject, _ make: () throws -> any Repository<Subject.Model, Subject.Entity>
  ) async throws {
    for fact in Subject.facts {
      do {
        try await fact.check(subject, make())
      } catch let failure as Unequal {
        throw ConformanceFailure(
          fact: fact.sentence, details: failure.description, seed: nil)
      } catch {
        throw ConformanceFailure(fact: fact.sentence, details: "it threw \(error)", seed: nil)
      }
    }
    var operations = RandomOperations(subject, try make(), seed: seed)
    do {
      for _ in 0..<operationCount { try operations.next() }
    } catch {
      throw ConformanceFailure(
        fact: "any operations have the results that a dictionary has",
        details: (["\(error)", "the last operations were:"] + operations.log.suffix(6))
          .joined(separator: "\n  "),
        seed: seed)
    }
  }
}

/// Something that a repository should do and does not.
public struct ConformanceFailure: Error, CustomStringConvertible {
  /// The sentence that is not true.
  public let fact: String
  /// What was expected and what was found.
  public let details: String
  /// What repeats a random run.
  public let seed: UInt64?

  public var description: String {
    "not so: \(fact)\n  \(details)" + (seed.map { "\n  seed: \($0)" } ?? "")
  }
}

/// What was expected and is not so.
struct Unequal: Error, CustomStringConvertible {
  let description: String
}

func expect<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String = "") throws {
  guard found != expected else { return }
  throw Unequal(
    description: (what.isEmpty ? "" : what + ": ") + "expected \(expected), found \(found)")
}

func expect(throws expected: StoreError, _ body: () throws -> some Any) throws {
  do {
    _ = try body()
  } catch {
    guard error as? StoreError != expected else { return }
    throw Unequal(description: "expected the error \(expected), found \(error)")
  }
  throw Unequal(description: "expected the error \(expected), and nothing was thrown")
}

extension ConformanceFailure: LocalizedError {
  public var errorDescription: String? { description }
}
