import Foundation

/// The files, the folder and the process around a store are not as they should be.
struct EnvironmentCampaign: Campaign {
  static let name = "environment"
  static let summary = "links, pipes, foreign files, rights, forks, limits: typed errors, no victim"
  static let mutants = [
    Mutation.library("follows-links"), .library("lock-inode"), .library("reader-lock"),
  ]

  func run(_ trial: Trial) throws -> Tally {
    var tally = Tally()
    let isRoot = geteuid() == 0
    for (part, next) in EnvironmentCase.all.enumerated() {
      trial.progress.report("\(Self.name): \(next.name)")
      if next.needsRoot, !isRoot {
        tally.count("skipped")
        continue
      }
      let scene = try Scene(next.name, trial, part: part)
      do { try next.run(scene) } catch { scene.fault("\(error)") }
      tally.add(scene.end())
      // What is broken on purpose needs to be noticed once.
      if trial.mutation != nil, !tally.isClean { break }
    }
    return tally
  }
}

struct EnvironmentCase: Sendable {
  /// Also the name of its folder.
  let name: String
  var needsRoot = false
  let run: @Sendable (Scene) throws -> Void

  init(_ name: String, needsRoot: Bool = false, _ run: @escaping @Sendable (Scene) throws -> Void) {
    self.name = name
    self.needsRoot = needsRoot
    self.run = run
  }

  static let all =
    links + kinds + replaced + readers + rights + processes + paths + foreign + limits + backups
}
