import type { Finding } from './read-ahead.ts'

/** The parts of a ClientHello that select the listener (RFC 8446, 4.1.2; RFC 6066, 3; RFC 7301, 3.1). */
export interface ClientHello {
  /** Lower case; empty if the client sends none. */
  readonly serverName: string
  /** Protocols that the client offers; empty if it offers none. */
  readonly alpnProtocols: readonly string[]
}

/**
 * `hello` is undefined if the bytes are not a ClientHello; `isPlainHttp` then tells whether they look like an HTTP request without TLS. No
 * bytes are consumed: the handshake reads them again.
 */
export interface ClientHelloFinding extends Finding {
  readonly hello: ClientHello | undefined
  readonly isPlainHttp?: boolean
}

/** Larger than any real ClientHello, even with post-quantum key shares and a large ticket. */
const MAX_HELLO_BYTES = 65_536

/** More records than any client uses for one message. Every new piece of data causes all of them to be parsed again. */
const MAX_RECORDS = 64

const HANDSHAKE_RECORD = 22
const MAX_RECORD_BYTES = 16_384
const RECORD_HEADER_BYTES = 5
const CLIENT_HELLO = 1
const MESSAGE_HEADER_BYTES = 4
const SERVER_NAME = 0
const ALPN = 16
const HOST_NAME = 0
const MAX_NAME_BYTES = 255
const NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?$/

/** A request line as far as its method, and the beginning of one. */
const PLAIN_HTTP = /^[A-Z]{3,19} /
const MAYBE_PLAIN_HTTP = /^[A-Z]{1,19}$/

const PLAIN: ClientHelloFinding = { usedBytes: 0, hello: undefined, isPlainHttp: true }
const NOTHING: ClientHelloFinding = { usedBytes: 0, hello: undefined }

/** Finds the ClientHello at the beginning of a connection. @returns undefined while it is incomplete */
export function findClientHello(bytes: Buffer): ClientHelloFinding | undefined {
  const message = gatherMessage(bytes)
  if (!(message instanceof Uint8Array)) {
    const start = bytes.latin1Slice(0, Math.min(bytes.length, 20))
    if (message === 'incomplete' || MAYBE_PLAIN_HTTP.test(start)) return undefined
    return PLAIN_HTTP.test(start) ? PLAIN : NOTHING
  }
  try {
    return { usedBytes: 0, hello: readHello(new Reader(message)) }
  } catch (error) {
    if (error instanceof MalformedHello) return NOTHING
    throw error
  }
}

/** The body of the first handshake message, which may span several records. */
function gatherMessage(bytes: Buffer): Uint8Array | 'incomplete' | 'malformed' {
  const pieces: Uint8Array[] = []
  let gathered = 0
  let wanted = -1
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== HANDSHAKE_RECORD) return 'malformed'
    if (at + 1 < bytes.length && bytes[at + 1] !== 3) return 'malformed'
    if (at + RECORD_HEADER_BYTES > bytes.length) break
    const length = bytes.readUInt16BE(at + 3)
    if (length === 0 || length > MAX_RECORD_BYTES) return 'malformed'
    const start = at + RECORD_HEADER_BYTES
    const piece = bytes.subarray(start, start + length)
    if (pieces.push(piece) > MAX_RECORDS) return 'malformed'
    gathered += piece.length
    at = start + length
    if (wanted < 0) {
      const begun = pieces.length === 1 ? piece : Buffer.concat(pieces)
      if (begun.length > 0 && begun[0] !== CLIENT_HELLO) return 'malformed'
      if (begun.length >= MESSAGE_HEADER_BYTES) wanted = MESSAGE_HEADER_BYTES + Buffer.from(begun).readUIntBE(1, 3)
      if (wanted > MAX_HELLO_BYTES) return 'malformed'
    }
    if (wanted >= 0 && gathered >= wanted) {
      // A client must not send another message before the server has replied.
      return gathered === wanted ? Buffer.concat(pieces).subarray(MESSAGE_HEADER_BYTES) : 'malformed'
    }
  }
  return 'incomplete'
}

function readHello(reader: Reader): ClientHello {
  reader.skip(2 + 32)
  reader.vector(1)
  const suites = reader.vector(2)
  if (suites.left === 0 || suites.left % 2 !== 0) throw new MalformedHello()
  if (reader.vector(1).left === 0) throw new MalformedHello()
  let serverName: string | undefined
  let alpnProtocols: readonly string[] | undefined
  // TLS 1.2 clients may omit all extensions.
  const extensions = reader.left === 0 ? reader : reader.vector(2)
  reader.expectEnd()
  while (extensions.left > 0) {
    const type = extensions.number(2)
    const content = extensions.vector(2)
    if (type === SERVER_NAME) {
      if (serverName !== undefined) throw new MalformedHello()
      serverName = readServerName(content)
    } else if (type === ALPN) {
      if (alpnProtocols !== undefined) throw new MalformedHello()
      alpnProtocols = readAlpn(content)
    }
  }
  return { serverName: serverName ?? '', alpnProtocols: alpnProtocols ?? [] }
}

function readServerName(content: Reader): string {
  const list = content.vector(2)
  content.expectEnd()
  if (list.number(1) !== HOST_NAME) throw new MalformedHello()
  const name = list.vector(2).text().toLowerCase()
  list.expectEnd()
  if (name.length > MAX_NAME_BYTES || !NAME.test(name)) throw new MalformedHello()
  return name.endsWith('.') ? name.slice(0, -1) : name
}

function readAlpn(content: Reader): string[] {
  const list = content.vector(2)
  content.expectEnd()
  const protocols: string[] = []
  while (list.left > 0) {
    const protocol = list.vector(1).text()
    if (protocol === '') throw new MalformedHello()
    protocols.push(protocol)
  }
  if (protocols.length === 0) throw new MalformedHello()
  return protocols
}

class MalformedHello extends Error {}

/** Reads numbers and vectors (RFC 8446, 3). Throws if the input is shorter than a length field says. */
class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  skip(count: number): void {
    if (count > this.left) throw new MalformedHello()
    this.#at += count
  }

  number(width: 1 | 2): number {
    this.skip(width)
    return this.#bytes.readUIntBE(this.#at - width, width)
  }

  /** A vector with a length prefix of `width` bytes. */
  vector(width: 1 | 2): Reader {
    const length = this.number(width)
    this.skip(length)
    return new Reader(this.#bytes.subarray(this.#at - length, this.#at))
  }

  text(): string {
    return this.#bytes.toString('latin1', this.#at)
  }

  expectEnd(): void {
    if (this.left > 0) throw new MalformedHello()
  }
}
