/** Bytes before the text that sockets read. */
export const READ_BASE = 65_536
const READ_BYTES = 65_536
/** Behind it, room for other text: of 256 KiB all but what may be looked at behind an end. */
export const COPY_BASE: number = READ_BASE + READ_BYTES
export const COPY_BYTES = 262_128
const PAGES = 6

/** What sockets read, where WebAssembly can look at it without copying; before it is room for what is found. */
export const wireMemory: WebAssembly.Memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES })

/** All sockets of the worker read into this memory; what must outlive the callback is copied. */
export const readBuffer: Buffer = Buffer.from(wireMemory.buffer, READ_BASE, READ_BYTES)
