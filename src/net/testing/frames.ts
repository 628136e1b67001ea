/** Frame types and flags of RFC 9113, 6. */
export const DATA = 0
export const HEADERS = 1
export const RST_STREAM = 3
export const SETTINGS = 4
export const PING = 6
export const GOAWAY = 7
export const WINDOW_UPDATE = 8
export const CONTINUATION = 9
export const END_STREAM = 1
export const ACK = 1
export const END_HEADERS = 4

export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
export const NOTHING: Buffer = Buffer.alloc(0)

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

export type Field = readonly [name: string, value: string]

/** The bytes of one frame. */
export function frame(type: number, flags: number, stream: number, payload: Buffer = NOTHING): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

export function settingsPayload(settings: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(6 * settings.length)
  settings.forEach(([identifier, value], i) => {
    payload.writeUInt16BE(identifier, 6 * i)
    payload.writeUInt32BE(value, 6 * i + 2)
  })
  return payload
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Fields as literals without indexing and without Huffman coding (RFC 7541, 6.2.2). Text is latin-1. */
export function headerBlock(fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]))
}

function literal(text: string): Buffer {
  return Buffer.concat([integer(text.length), Buffer.from(text, 'latin1')])
}

/** An integer with a prefix of seven bits (RFC 7541, 5.1). */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.from([value])
  const bytes = [127]
  let left = value - 127
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push(128 | (left & 127))
  return Buffer.from([...bytes, left])
}
