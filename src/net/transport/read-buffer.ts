/** Offset of the bytes that sockets read. */
export const READ_BASE = 65_536
const READ_BYTES = 65_536
/** Offset of room for other text: 256 KiB, except the bytes after an end that a search may read. */
export const COPY_BASE: number = READ_BASE + READ_BYTES
export const COPY_BYTES = 262_128
const PAGES = 6

/** The memory that sockets read into, which WebAssembly can access without copying; results are stored before it. */
export const wireMemory: WebAssembly.Memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES })

/** All sockets of the worker read into this memory; what must outlive the callback is copied. */
export const readBuffer: Buffer = Buffer.from(wireMemory.buffer, READ_BASE, READ_BYTES)
