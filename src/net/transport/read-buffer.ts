/** All sockets of the worker read into this memory; what must outlive the callback is copied. */
export const readBuffer: Buffer = Buffer.allocUnsafeSlow(65_536)
