import Foundation

/// How often a random test repeats: `usual` times where people wait for it, and `LARDER_TIMES` as often
/// where that is in the environment, as in `Tools/test --nightly`.
package func repetitions(_ usual: Int) -> Int { usual * times }

/// The rounds of a random test that has to meet certain cases: `usual` of them, and then more, up to
/// twenty times as many, while it has not met them all.
package func rounds(_ usual: Int, until hasMetAll: @escaping () -> Bool) -> some Sequence<Int> {
  (0..<20 * usual).lazy.prefix { $0 < usual || !hasMetAll() }
}

/// All of what is to be tried, where `LARDER_TIMES` is in the environment; else a sixth of it, another
/// one in each run.
package func sample<Element>(of all: [Element]) -> [Element] {
  times > 1 ? all : Array(all.shuffled().prefix(max(6, all.count / 6)))
}

private let times = max(
  1, ProcessInfo.processInfo.environment["LARDER_TIMES"].flatMap { Int($0) } ?? 1)
