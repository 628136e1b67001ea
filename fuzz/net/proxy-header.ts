import { BlockList, isIP } from 'node:net'
import { findProxyHeader, type ProxyHeader, type ProxyHeaderSettings } from '#net/accept/proxy-header.ts'
import { crc32c } from '#net/crc32.ts'
import { mutate, seeded } from './mutate.ts'

// Usage: node fuzz/net/proxy-header.ts [seconds] [seed]
// Writes PROXY headers with known content, damages half of them, and reads them split anywhere. The first header that is
// read differently, or decided before it is complete, is printed with its seed and ends the run with 1.

const seconds = Number(process.argv[2] ?? 30)
const firstSeed = Number(process.argv[3] ?? Date.now() % 2 ** 32)

const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n'
/** A header of version 2 announces its length in two bytes; one of version 1 is a line of at most 107. */
const MAX_BYTES = { V1: 107, V2: 16 + 65_535 }
const VERSIONS = ['V1', 'V2', 'All'] as const

/** A header and its content: `unchanged`, or address and port of the client. */
interface Written {
  readonly text: string
  readonly version: 'V1' | 'V2'
  readonly says: 'unchanged' | { readonly address: string; readonly port: number }
  /** Offsets where the checksum detects every change: from the addresses to the end, except the heads of the TLVs. */
  readonly guarded: readonly number[]
}

const counts = { headers: 0, damaged: 0, announced: 0, unchanged: 0, refused: 0 }
const until = performance.now() + seconds * 1000
let seed = firstSeed
let random = seeded(seed)
while (performance.now() < until) {
  random = seeded(++seed)
  counts.headers++
  const header = random() < 0.4 ? writeV1() : writeV2()
  checkWhole(header)
  checkDamaged(header)
}
console.log(`seed ${firstSeed} to ${seed}:`, counts)

/** Reads the undamaged header, followed by bytes of the client. */
function checkWhole({ text, version, says }: Written): void {
  const behind = random() < 0.5 ? '' : 'GET / HTTP/1.1\r\n'
  for (const accepted of VERSIONS) {
    const found = read(text + behind, { version: accepted, required: random() < 0.5 })
    if (accepted !== 'All' && accepted !== version) {
      if (found?.kind !== 'refused' || found.why !== 'proxy-header-version') fail('of another version', text, found)
      continue
    }
    if (found === undefined || found.kind === 'refused') fail('refused', text, found)
    if (found.usedBytes !== text.length) fail('another end', text, found)
    if (says === 'unchanged' ? found.kind !== says : !isSaid(found, says)) fail('read otherwise', text, found, says)
  }
  checkCuts(text + behind, text.length)
}

/** A damaged header: no exception, no decision that later bytes change, no address that is not in the header. */
function checkDamaged({ text, version, guarded }: Written): void {
  counts.damaged++
  const damaged = mutate(text, random)
  const found = read(damaged, { version: 'All', required: true })
  counts[found?.kind ?? 'refused']++
  if (found === undefined && damaged.length >= MAX_BYTES[version]) fail('waits without end', damaged)
  if (found?.kind === 'announced' && !isThere(damaged.slice(0, found.usedBytes), found)) {
    fail('announced, but not there', damaged, found)
  }
  checkCuts(damaged, found === undefined ? damaged.length + 1 : found.usedBytes)
  if (guarded.length === 0) return
  const at = guarded[below(guarded.length)]!
  const flipped = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << below(8))) + text.slice(at + 1)
  const guardedRead = read(flipped, { version: 'All', required: true })
  if (guardedRead?.kind !== 'refused') fail('a wrong checksum', flipped, guardedRead)
}

/** A decision about a part must hold for the whole. */
function checkCuts(text: string, usedBytes: number): void {
  for (const required of [true, false]) {
    const settings: ProxyHeaderSettings = { version: 'All', required }
    const whole = JSON.stringify(read(text, settings))
    for (let cuts = 0; cuts < 4; cuts++) {
      const at = below(Math.min(text.length, usedBytes + 2) + 1)
      const part = read(text.slice(0, at), settings)
      if (part !== undefined && JSON.stringify(part) !== whole) fail(`decided on ${at} bytes`, text, part, whole)
      if (part !== undefined && part.usedBytes > at) fail(`used more than ${at} bytes`, text, part)
    }
  }
}

function read(text: string, settings: ProxyHeaderSettings): ProxyHeader | undefined {
  try {
    return findProxyHeader(Buffer.from(text, 'latin1'), settings)
  } catch (error) {
    return fail('an exception', text, String(error))
  }
}

function isSaid(found: ProxyHeader, { address, port }: Exclude<Written['says'], string>): boolean {
  return found.kind === 'announced' && found.port === port && isSameAddress(found.address, address)
}

/** Searches the header for the announced address, with simple code. */
function isThere(header: string, { address, port }: { readonly address: string; readonly port: number }): boolean {
  if (header.startsWith('PROXY ')) {
    const [, , source = '', , sourcePort = ''] = header.trimEnd().split(' ')
    return isSameAddress(address, source) && String(port) === sourcePort
  }
  const bytes = Buffer.from(header, 'latin1')
  const width = bytes[13] === 0x11 ? 4 : 16
  const source = width === 4 ? bytes.subarray(16, 20).join('.') : groupsOf(bytes.subarray(16, 32))
  return isSameAddress(address, source) && bytes.readUInt16BE(16 + 2 * width) === port
}

/** Compares with Node, which treats an IPv4-mapped IPv6 address as the IPv4 address. */
function isSameAddress(one: string, other: string): boolean {
  if (isIP(one) === 0 || isIP(other) === 0) return false
  const list = new BlockList()
  list.addAddress(one, isIP(one) === 4 ? 'ipv4' : 'ipv6')
  return list.check(other, isIP(other) === 4 ? 'ipv4' : 'ipv6')
}

// Writing.

function writeV1(): Written {
  const written = { version: 'V1', guarded: [] } as const
  if (random() < 0.15) {
    return { ...written, text: `PROXY UNKNOWN${random() < 0.5 ? '' : ' ffff::1 ::1 1 2'}\r\n`, says: 'unchanged' }
  }
  const is4 = random() < 0.5
  const [source, destination] = [anyAddress(is4), anyAddress(is4)]
  const port = below(65_536)
  const text = `PROXY TCP${is4 ? 4 : 6} ${source} ${destination} ${port} ${below(65_536)}\r\n`
  return { ...written, text, says: { address: source, port } }
}

function writeV2(): Written {
  const isLocal = random() < 0.1
  const family = [0x00, 0x11, 0x11, 0x11, 0x12, 0x21, 0x21, 0x22, 0x31, 0x32][below(10)]!
  const addresses = anyBytes([0, 12, 36, 216][family >> 4]!)
  const hasChecksum = random() < 0.5
  const tlvs = Array.from({ length: below(4) }, anyTlv)
  if (hasChecksum) tlvs.splice(below(tlvs.length + 1), 0, tlv(3, '\0\0\0\0'))
  const rest = addresses + tlvs.join('')
  const head = SIGNATURE + String.fromCharCode(isLocal ? 0x20 : 0x21, family, rest.length >> 8, rest.length & 255)
  const bytes = Buffer.from(head + rest, 'latin1')
  const guarded: number[] = []
  let at = head.length + addresses.length
  for (let i = head.length; i < at; i++) guarded.push(i)
  for (const { length } of tlvs) {
    for (let i = at + 3; i < at + length; i++) guarded.push(i)
    if (bytes[at] === 3) bytes.writeUInt32BE(crc32c(bytes), at + 3)
    at += length
  }
  const is4 = family === 0x11
  const says =
    isLocal || (!is4 && family !== 0x21)
      ? 'unchanged'
      : {
          address: is4 ? bytes.subarray(16, 20).join('.') : groupsOf(bytes.subarray(16, 32)),
          port: bytes.readUInt16BE(is4 ? 24 : 48),
        }
  return { text: bytes.toString('latin1'), version: 'V2', says, guarded: hasChecksum && !isLocal ? guarded : [] }
}

function anyTlv(): string {
  // ALPN, authority, padding, unique id, network namespace and an unknown type; 0x20 nests others.
  if (random() < 0.2) return tlv(0x20, anyBytes(5) + tlv(0x21, 'TLSv1.3') + tlv(0x22, anyBytes(below(9))))
  return tlv([1, 2, 4, 5, 0x30, 0xe0][below(6)]!, anyBytes(random() < 0.1 ? below(3000) : below(20)))
}

function tlv(type: number, value: string): string {
  return String.fromCharCode(type, value.length >> 8, value.length & 255) + value
}

function anyAddress(is4: boolean): string {
  if (is4) return Array.from({ length: 4 }, () => below(256)).join('.')
  if (random() < 0.2) return `::ffff:${anyAddress(true)}`
  if (random() < 0.3) return `${below(65_536).toString(16)}::${below(65_536).toString(16).toUpperCase()}`
  return Array.from({ length: 8 }, () => below(65_536).toString(16)).join(':')
}

function groupsOf(bytes: Buffer): string {
  return Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16)).join(':')
}

function anyBytes(length: number): string {
  return String.fromCharCode(...Array.from({ length }, () => below(256)))
}

function below(limit: number): number {
  return Math.floor(random() * limit)
}

function fail(what: string, text: string, ...readings: unknown[]): never {
  console.log(`${what} (seed ${seed}):\n${JSON.stringify(text)}`)
  for (const reading of readings) console.log(JSON.stringify(reading, null, 1))
  process.exit(1)
}
