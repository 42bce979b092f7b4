#if LARDER_MUTANTS
  internal import LarderLMDB

  // What `Mutant.logApart` does wrong: the packs of a commit wait here until it is through, and
  // come in a transaction of their own.
  enum LogApart {
    private static let packs = Locked<[(sequence: UInt64, bytes: [UInt8])]>([])

    static func hold(_ bytes: UnsafeRawBufferPointer, _ sequence: UInt64) {
      packs.withLock { $0.append((sequence, [UInt8](bytes))) }
    }

    static func write(_ environment: Environment) throws {
      let packs = packs.withLock { packs in
        defer { packs = [] }
        return packs
      }
      guard !packs.isEmpty,
        let log = try environment.database(named: Layout.changesName, create: false)
      else { return }
      var transaction = try environment.beginWrite()
      for (sequence, bytes) in packs {
        try bytes.withUnsafeBytes { bytes in
          try withUnsafeBytes(of: sequence.bigEndian) { key in
            // Others may have written later changes by now.
            try transaction.put(bytes, for: key, in: log)
          }
        }
      }
      try transaction.commit()
    }
  }
#endif
