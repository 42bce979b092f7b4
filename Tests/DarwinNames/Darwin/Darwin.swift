// What Swift's own module of Apple's C library adds to the header beside it. See `Tools/check-darwin`.

@_exported import Darwin

public var errno: Int32 {
  get { 0 }
  set {}
}

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { -1 }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { -1 }

public func fcntl(_ descriptor: Int32, _ command: Int32) -> Int32 { -1 }
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 { -1 }
public func fcntl(
  _ descriptor: Int32, _ command: Int32, _ pointer: UnsafeMutableRawPointer
) -> Int32 { -1 }

public func ioctl(_ descriptor: Int32, _ request: UInt, _ value: CInt) -> CInt { -1 }
public func ioctl(
  _ descriptor: Int32, _ request: UInt, _ pointer: UnsafeMutableRawPointer
) -> CInt { -1 }
public func ioctl(_ descriptor: Int32, _ request: UInt) -> CInt { -1 }

public var TIOCGWINSZ: UInt { 0x4008_7468 }
public var MAP_FAILED: UnsafeMutableRawPointer! { UnsafeMutableRawPointer(bitPattern: -1) }

public var SIG_DFL: (@convention(c) (Int32) -> Void)? { nil }
public var SIG_IGN: (@convention(c) (Int32) -> Void)! {
  unsafeBitCast(1, to: (@convention(c) (Int32) -> Void)?.self)
}

public var S_IFMT: mode_t { 0o170000 }
public var S_IFIFO: mode_t { 0o010000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFLNK: mode_t { 0o120000 }
public var S_IFSOCK: mode_t { 0o140000 }
public var S_IRWXU: mode_t { 0o700 }

nonisolated(unsafe) public var stdout: UnsafeMutablePointer<FILE>! = nil
nonisolated(unsafe) public var stderr: UnsafeMutablePointer<FILE>! = nil
