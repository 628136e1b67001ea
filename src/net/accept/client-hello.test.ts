import net from 'node:net'
import tls from 'node:tls'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findClientHello } from './client-hello.ts'

/** The first bytes of a real client. */
function helloOf(options: tls.ConnectionOptions): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = net.createServer((socket) => {
      socket.once('data', (bytes: Buffer) => {
        resolve(bytes)
        client.destroy()
        server.close()
      })
    })
    let client: tls.TLSSocket
    server.listen(0, '127.0.0.1', () => {
      client = tls.connect({ host: '127.0.0.1', port: (server.address() as net.AddressInfo).port, ...options })
      client.on('error', () => {})
    })
  })
}

const real = await helloOf({ servername: 'Shop.Example', ALPNProtocols: ['h2', 'http/1.1'] })
const FOUND = { usedBytes: 0, hello: { serverName: 'shop.example', alpnProtocols: ['h2', 'http/1.1'] } }
const NOTHING = { usedBytes: 0, hello: undefined }

test('a real client, in one piece and followed by another record', () => {
  expect(findClientHello(real)).toEqual(FOUND)
  expect(findClientHello(Buffer.concat([real, Buffer.from([20, 3, 3, 0, 1, 1])]))).toEqual(FOUND)
})

test('a TLS 1.2 client without a server name', async () => {
  const hello = await helloOf({ maxVersion: 'TLSv1.2' })
  expect(findClientHello(hello)).toEqual({ usedBytes: 0, hello: { serverName: '', alpnProtocols: [] } })
})

test('every prefix is incomplete', () => {
  for (let end = 0; end < real.length; end++) expect(findClientHello(real.subarray(0, end)), `${end}`).toBeUndefined()
})

test('a message may have 65536 bytes with its header, and no more', () => {
  const begun = (bytes: number) => Buffer.from([22, 3, 1, 0, 4, 1, 0, bytes >> 8, bytes & 255])
  expect(findClientHello(begun(65_532))).toBeUndefined()
  expect(findClientHello(begun(65_533))).toEqual(NOTHING)
})

/** The same message in records of at most `size` bytes. */
function inRecords(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5)
  const records: Buffer[] = []
  for (let at = 0; at < message.length; at += size) {
    const piece = message.subarray(at, at + size)
    records.push(Buffer.from([22, 3, 1, piece.length >> 8, piece.length & 255]), piece)
  }
  return Buffer.concat(records)
}

test.each([1, 2, 3, 4, 5])('a short message in records of %d bytes', (size) => {
  const hello = { serverName: '', alpnProtocols: [] }
  expect(findClientHello(inRecords(helloWith({}), size))).toEqual({ usedBytes: 0, hello })
})

test.each([30, 100])('a message in records of %d bytes', (size) => {
  const bytes = inRecords(real, size)
  expect(findClientHello(bytes)).toEqual(FOUND)
  expect(findClientHello(bytes.subarray(0, -1))).toBeUndefined()
})

interface Parts {
  extensions?: Buffer
  suites?: number[]
  compressions?: number[]
  behind?: number[]
}

/** A complete ClientHello, assembled from its parts. */
function helloWith({ extensions, suites = [0x13, 0x01], compressions = [0], behind = [] }: Parts): Buffer {
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32),
    Buffer.from([0, suites.length >> 8, suites.length & 255, ...suites, compressions.length, ...compressions]),
    extensions === undefined ? Buffer.alloc(0) : withLength(extensions),
    Buffer.from(behind),
  ])
  const header = Buffer.from([1, 0, body.length >> 8, body.length & 255])
  const length = header.length + body.length
  return Buffer.concat([Buffer.from([22, 3, 1, length >> 8, length & 255]), header, body])
}

function withLength(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}

function extension(type: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type >> 8, type & 255]), withLength(content)])
}

function serverName(name: string, kind = 0): Buffer {
  return extension(0, withLength(Buffer.concat([Buffer.from([kind]), withLength(Buffer.from(name, 'latin1'))])))
}

function alpn(...names: string[]): Buffer {
  return extension(16, withLength(Buffer.concat(names.map((name) => Buffer.from([name.length, ...Buffer.from(name)])))))
}

test.each<[string, Parts, string, string[]]>([
  ['no extensions at all', {}, '', []],
  ['an empty list of extensions', { extensions: Buffer.alloc(0) }, '', []],
  ['a name', { extensions: serverName('a.b') }, 'a.b', []],
  ['a name with its final dot', { extensions: serverName('a.b.') }, 'a.b', []],
  ['an underscore', { extensions: serverName('_x.a-b') }, '_x.a-b', []],
  ['unknown extensions', { extensions: Buffer.concat([extension(0xfafa, Buffer.alloc(1)), alpn('x')]) }, '', ['x']],
])('%s', (_, parts, name, alpnProtocols) => {
  expect(findClientHello(helloWith(parts))).toEqual({ usedBytes: 0, hello: { serverName: name, alpnProtocols } })
})

test.each<[string, Buffer]>([
  ['another record', Buffer.from([21, 3, 3, 0, 2, 1, 0])],
  ['another protocol version', Buffer.from([22, 2, 0, 0, 5])],
  ['an empty record', Buffer.from([22, 3, 1, 0, 0])],
  ['a record that is too long', Buffer.from([22, 3, 1, 0x40, 1])],
  ['another message', Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
  ['a message that is too long', Buffer.from([22, 3, 1, 0, 4, 1, 1, 0, 1])],
  ['bytes after the message in its record', helloWithTail()],
  ['bytes after the extensions', helloWith({ extensions: Buffer.alloc(0), behind: [0] })],
  ['no suites', helloWith({ suites: [] })],
  ['half a suite', helloWith({ suites: [1] })],
  ['no compression', helloWith({ compressions: [] })],
  ['two names', helloWith({ extensions: Buffer.concat([serverName('a'), serverName('b')]) })],
  ['another kind of name', helloWith({ extensions: serverName('a', 1) })],
  ['an empty name', helloWith({ extensions: serverName('') })],
  ['a name with a zero', helloWith({ extensions: serverName('a\0.b') })],
  ['a name with an empty label', helloWith({ extensions: serverName('a..b') })],
  ['a name that is too long', helloWith({ extensions: serverName('a'.repeat(256)) })],
  ['an empty protocol', helloWith({ extensions: alpn('') })],
  ['no protocols', helloWith({ extensions: alpn() })],
  ['two lists of protocols', helloWith({ extensions: Buffer.concat([alpn('a'), alpn('b')]) })],
  ['a truncated extension', helloWith({ extensions: serverName('abc').subarray(0, -1) })],
  ['too many records', inRecords(helloWith({ extensions: alpn('a'.repeat(60)) }), 1).subarray(0, 65 * 6)],
  ['without end', Buffer.concat(new Array(140_000 / 7).fill(Buffer.from([22, 3, 1, 0, 2, 1, 0])))],
])('no ClientHello: %s', (_, bytes) => {
  expect(findClientHello(bytes)).toEqual(NOTHING)
})

test('an HTTP request without TLS is told apart', () => {
  expect(findClientHello(Buffer.from('GET / HTTP/1.1\r\n'))).toEqual({ ...NOTHING, isPlainHttp: true })
})

function helloWithTail(): Buffer {
  const hello = Buffer.concat([helloWith({}), Buffer.from([0])])
  hello.writeUInt16BE(hello.length - 5, 3)
  return hello
}

/** A valid beginning with some bytes replaced. */
const damaged = fc
  .tuple(fc.constant(real), fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }))
  .map(([good, changes]) => {
    const bytes = Buffer.from(good)
    for (const [at, value] of changes) bytes[at % bytes.length] = value
    return bytes
  })

test('any input is decided or incomplete, and more bytes do not change a decision', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        damaged,
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      ),
      fc.nat(),
      (bytes, cut) => {
        const whole = findClientHello(bytes)
        const part = findClientHello(bytes.subarray(0, cut % (bytes.length + 1)))
        if (part !== undefined) expect(whole).toEqual(part)
        if (whole !== undefined) expect(whole.usedBytes).toBeLessThanOrEqual(bytes.length)
      },
    ),
    { numRuns: 500 },
  )
})
