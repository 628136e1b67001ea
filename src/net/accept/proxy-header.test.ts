import fc from 'fast-check'
import { expect, test } from 'vitest'
import { crc32c } from '../crc32.ts'
import { findProxyHeader, type ProxyHeader, type ProxyHeaderSettings } from './proxy-header.ts'

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const STRICT: ProxyHeaderSettings = { version: 'All', required: true }
const OPTIONAL: ProxyHeaderSettings = { version: 'All', required: false }

function v2(command: number, family: number, ...parts: (readonly number[] | Buffer)[]): Buffer {
  const rest = Buffer.concat(parts.map((part) => Buffer.from(part)))
  return Buffer.concat([SIGNATURE, Buffer.from([command, family, rest.length >> 8, rest.length & 255]), rest])
}

function tlv(type: number, value: readonly number[] | Buffer): Buffer {
  return Buffer.from([type, value.length >> 8, value.length & 255, ...value])
}

const IPV4 = [192, 0, 2, 7, 198, 51, 100, 1, 0x12, 0x67, 0x01, 0xbb]
const IPV6 = [
  ...[0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7],
  ...[0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
  ...[0x12, 0x67, 0x01, 0xbb],
]
const MAPPED = [...new Array(10).fill(0), 255, 255, 192, 0, 2, 7, ...IPV6.slice(16)]
const SSL = [1, 0, 0, 0, 0, ...tlv(0x21, Buffer.from('TLSv1.3')), ...tlv(0x22, Buffer.from('cart'))]

/** A header with a valid checksum, plus `offBy`. */
function withChecksum(offBy = 0): Buffer {
  const header = v2(0x21, 0x11, IPV4, tlv(0x03, [0, 0, 0, 0]), tlv(0x04, [0, 0]))
  const at = header.length - 5 - 4
  header.writeUInt32BE((crc32c(header) + offBy) >>> 0, at)
  return header
}

test('CRC32C of the standard check value', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
})

type Row = [name: string, header: Buffer | string, expected: string | ProxyHeader['kind']]

const VALID: Row[] = [
  ['V1, IPv4', 'PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n', '192.0.2.7 4711'],
  ['V1, IPv6', 'PROXY TCP6 2001:DB8:0::7 2001:db8::1 4711 443\r\n', '2001:db8::7 4711'],
  ['V1, an IPv4 address in IPv6', 'PROXY TCP6 ::ffff:192.0.2.7 ::1 4711 443\r\n', '192.0.2.7 4711'],
  ['V1, an IPv6 address that only looks like IPv4', 'PROXY TCP6 ::192.0.2.7 ::1 4711 443\r\n', '::c000:207 4711'],
  [
    'V1, the longest',
    `PROXY TCP6 ${'ffff:'.repeat(7)}ffff ${'ffff:'.repeat(7)}ffff 65535 65535\r\n`,
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535',
  ],
  ['V1, port 0', 'PROXY TCP4 192.0.2.7 198.51.100.1 0 0\r\n', '192.0.2.7 0'],
  ['V1, UNKNOWN', 'PROXY UNKNOWN\r\n', 'unchanged'],
  ['V1, UNKNOWN with more', 'PROXY UNKNOWN ffff:: ::1 1 2\r\n', 'unchanged'],
  ['V2, IPv4', v2(0x21, 0x11, IPV4), '192.0.2.7 4711'],
  ['V2, IPv6', v2(0x21, 0x21, IPV6), '2001:db8::7 4711'],
  ['V2, an IPv4 address in IPv6', v2(0x21, 0x21, MAPPED), '192.0.2.7 4711'],
  ['V2, Unix sockets', v2(0x21, 0x31, new Array(216).fill(97)), 'unchanged'],
  ['V2, datagrams', v2(0x21, 0x12, IPV4), 'unchanged'],
  ['V2, unspecified', v2(0x21, 0x00), 'unchanged'],
  ['V2, unspecified with TLVs', v2(0x21, 0x00, tlv(0x05, [1, 2])), 'unchanged'],
  ['V2, LOCAL', v2(0x20, 0x00), 'unchanged'],
  ['V2, LOCAL with addresses, which are ignored', v2(0x20, 0x11, IPV4), 'unchanged'],
  ['V2, LOCAL with an invalid family', v2(0x20, 0xff, [1, 2, 3]), 'unchanged'],
  [
    'V2, TLVs',
    v2(0x21, 0x11, IPV4, tlv(0x01, Buffer.from('h2')), tlv(0xee, []), tlv(0x04, new Array(9).fill(0))),
    '192.0.2.7 4711',
  ],
  ['V2, a TLS TLV', v2(0x21, 0x11, IPV4, tlv(0x20, SSL)), '192.0.2.7 4711'],
  ['V2, a checksum', withChecksum(), '192.0.2.7 4711'],
  ['V2, of maximum length', v2(0x21, 0x11, IPV4, tlv(0x04, new Array(65_535 - 12 - 3).fill(0))), '192.0.2.7 4711'],
]

function bytesOf(header: Buffer | string): Buffer {
  return typeof header === 'string' ? Buffer.from(header, 'latin1') : header
}

function told(found: ProxyHeader | undefined): string | undefined {
  return found?.kind === 'announced' ? `${found.address} ${found.port}` : found?.kind
}

test.each(VALID)('%s', (_, header, expected) => {
  const bytes = bytesOf(header)
  for (const settings of [STRICT, OPTIONAL]) {
    const found = findProxyHeader(Buffer.concat([bytes, Buffer.from('GET /')]), settings)
    expect(told(found)).toBe(expected)
    expect(found?.usedBytes).toBe(bytes.length)
  }
})

test.each(VALID.filter(([, header]) => header.length < 1000))('%s, byte by byte', (_, header, expected) => {
  const bytes = bytesOf(header)
  for (let end = 1; end < bytes.length; end++) {
    expect(findProxyHeader(bytes.subarray(0, end), STRICT), `${end} bytes`).toBeUndefined()
  }
  expect(told(findProxyHeader(bytes, STRICT))).toBe(expected)
})

test.each<[string, Buffer | string]>([
  ['V1, lower case', 'PROXY tcp4 192.0.2.7 198.51.100.1 4711 443\r\n'],
  ['V1, another protocol', 'PROXY UDP4 192.0.2.7 198.51.100.1 4711 443\r\n'],
  ['V1, no addresses', 'PROXY TCP4\r\n'],
  ['V1, addresses of another family', 'PROXY TCP4 2001:db8::7 2001:db8::1 4711 443\r\n'],
  ['V1, one address of another family', 'PROXY TCP6 2001:db8::7 192.0.2.7 4711 443\r\n'],
  ['V1, a zone', 'PROXY TCP6 fe80::1%eth0 ::1 4711 443\r\n'],
  ['V1, a number instead of an address', 'PROXY TCP4 1 198.51.100.1 4711 443\r\n'],
  ['V1, a leading zero', 'PROXY TCP4 192.0.2.7 198.51.100.1 04711 443\r\n'],
  ['V1, a port that is too large', 'PROXY TCP4 192.0.2.7 198.51.100.1 65536 443\r\n'],
  ['V1, a destination port that is too large', 'PROXY TCP4 192.0.2.7 198.51.100.1 443 99999\r\n'],
  ['V1, two blanks', 'PROXY TCP4  192.0.2.7 198.51.100.1 4711 443\r\n'],
  ['V1, a blank at the end', 'PROXY TCP4 192.0.2.7 198.51.100.1 4711 443 \r\n'],
  ['V1, a line feed without carriage return', `PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\n${'x'.repeat(80)}`],
  ['V1, too long', `PROXY UNKNOWN ${'x'.repeat(92)}\r\n`],
  ['V1, unterminated', `PROXY UNKNOWN ${'x'.repeat(200)}`],
  ['V1, UNKNOWNS', 'PROXY UNKNOWNS\r\n'],
  ['an HTTP request with that method', 'PROXY / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['V2, version 1', v2(0x11, 0x11, IPV4)],
  ['V2, an unknown command', v2(0x22, 0x11, IPV4)],
  ['V2, an unknown family', v2(0x21, 0x41, new Array(300).fill(0))],
  ['V2, an unknown transport', v2(0x21, 0x13, IPV4)],
  ['V2, truncated addresses', v2(0x21, 0x11, IPV4.slice(1))],
  ['V2, IPv6 with the length of IPv4', v2(0x21, 0x21, IPV4)],
  ['V2, a truncated TLV', v2(0x21, 0x11, IPV4, tlv(0x04, [1, 2]).subarray(0, -1))],
  ['V2, a TLV without its value', v2(0x21, 0x11, IPV4, [4, 0, 1])],
  ['V2, a TLV without length', v2(0x21, 0x11, IPV4, [4, 0])],
  ['V2, bytes after the TLVs', v2(0x21, 0x11, IPV4, tlv(0x04, []), [0])],
  ['V2, a truncated TLS TLV', v2(0x21, 0x11, IPV4, tlv(0x20, SSL.slice(0, -1)))],
  ['V2, a TLS TLV without result', v2(0x21, 0x11, IPV4, tlv(0x20, [1, 0, 0]))],
  ['V2, a wrong checksum', withChecksum(1)],
  ['V2, a short checksum', v2(0x21, 0x11, IPV4, tlv(0x03, [0, 0]))],
  ['V2, two checksums', v2(0x21, 0x11, IPV4, tlv(0x03, [0, 0, 0, 0]), tlv(0x03, [0, 0, 0, 0]))],
])('refused: %s', (_, header) => {
  for (const settings of [STRICT, OPTIONAL]) {
    expect(findProxyHeader(bytesOf(header), settings)).toMatchObject({
      kind: 'refused',
      usedBytes: 0,
      why: 'proxy-header-malformed',
    })
  }
})

const V1 = Buffer.from('PROXY UNKNOWN\r\n')
const V2 = v2(0x20, 0)

test.each<[string, 'V1' | 'V2' | 'All', Buffer, string]>([
  ['V1 where V1 is accepted', 'V1', V1, 'unchanged'],
  ['V2 where V1 is accepted', 'V1', V2, 'proxy-header-version'],
  ['V1 where V2 is accepted', 'V2', V1, 'proxy-header-version'],
  ['V2 where V2 is accepted', 'V2', V2, 'unchanged'],
  ['V1 where all are accepted', 'All', V1, 'unchanged'],
  ['V2 where all are accepted', 'All', V2, 'unchanged'],
])('%s', (_, version, header, expected) => {
  for (const required of [true, false]) {
    const found = findProxyHeader(header, { version, required })
    expect(found?.kind === 'refused' ? found.why : found?.kind).toBe(expected)
  }
})

test.each([
  'GET / HTTP/1.1\r\n',
  'P',
  'PROX',
  'PROXYX',
  'PUT / HTTP/1.1\r\n',
  '\r\nGET / HTTP/1.1\r\n',
  '\x16\x03\x01',
])('no header: %j', (text) => {
  const bytes = Buffer.from(text, 'latin1')
  const partly = SIGNATURE.subarray(0, bytes.length).equals(bytes) || 'PROXY '.startsWith(text)
  const optional = findProxyHeader(bytes, OPTIONAL)
  expect(optional).toEqual(partly ? undefined : { kind: 'unchanged', usedBytes: 0 })
  expect(findProxyHeader(bytes, STRICT)?.kind).toBe(partly ? undefined : 'refused')
})

/** A valid beginning with some bytes replaced. */
const damaged = fc
  .tuple(
    fc.constantFrom(...VALID.filter(([, header]) => header.length < 1000).map(([, header]) => bytesOf(header))),
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
  )
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
        const whole = findProxyHeader(bytes, STRICT)
        const part = findProxyHeader(bytes.subarray(0, cut % (bytes.length + 1)), STRICT)
        if (part !== undefined) expect(whole).toEqual(part)
        if (whole !== undefined) expect(whole.usedBytes).toBeLessThanOrEqual(bytes.length)
      },
    ),
    { numRuns: 500 },
  )
})
