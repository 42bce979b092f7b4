package import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A port of this machine's loopback at which nobody accepts a connection, and which nobody else is given
/// while this lives.
package final class SilentPort: Sendable {
  package let url: URL
  private let socket: Int32

  package init() throws {
    let port: UInt16
    (socket, port) = try boundSocket()
    url = URL(string: "http://127.0.0.1:\(port)/v1")!
  }

  deinit { close(socket) }
}

/// A socket that has a port of the loopback, one that was free, and does not listen.
func boundSocket() throws -> (socket: Int32, port: UInt16) {
  #if canImport(Glibc)
    let kind = Int32(SOCK_STREAM.rawValue)
  #else
    let kind = SOCK_STREAM
  #endif
  let socket = Foundation.socket(AF_INET, kind, 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let status = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
      guard bind(socket, address, size) == 0 else { return Int32(-1) }
      return getsockname(socket, address, &size)
    }
  }
  guard status == 0 else {
    let error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    close(socket)
    throw error
  }
  return (socket, UInt16(bigEndian: address.sin_port))
}
