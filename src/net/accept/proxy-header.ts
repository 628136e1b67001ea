import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { crc32c } from '../crc32.ts'
import type { ConnectionRefusal } from './connection-refusal.ts'
import type { Finding } from './read-ahead.ts'

/** Which PROXY headers are accepted (specification 2, 2.1 `proxyProtocol`; decision A-47). */
export interface ProxyHeaderSettings {
  readonly version: 'V1' | 'V2' | 'All'
  /** A connection without a header is refused. */
  readonly required: boolean
}

export type ProxyHeader = Finding &
  (
    | { readonly kind: 'announced'; readonly address: string; readonly port: number }
    /** The header does not change the peer, or there is no header and none is required. */
    | { readonly kind: 'unchanged' }
    | { readonly kind: 'refused'; readonly why: ConnectionRefusal }
  )

const V1_SIGNATURE = Buffer.from('PROXY ')
const V2_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const V1_MAX_BYTES = 107
const V2_FIXED_BYTES = 16

/**
 * Finds a PROXY header at the beginning of a connection (The PROXY protocol, versions 1 and 2, HAProxy Technologies). Bytes that begin
 * with the whole signature must be a valid header.
 * @returns undefined while it is incomplete
 */
export function findProxyHeader(bytes: Buffer, { version, required }: ProxyHeaderSettings): ProxyHeader | undefined {
  const begun = begins(bytes, V1_SIGNATURE) ?? begins(bytes, V2_SIGNATURE)
  if (begun === 'partly') return undefined
  if (begun === undefined) return required ? refused('proxy-header-missing') : { kind: 'unchanged', usedBytes: 0 }
  const found = begun === V1_SIGNATURE ? 'V1' : 'V2'
  if (version !== 'All' && version !== found) return refused('proxy-header-version')
  return found === 'V1' ? readV1(bytes) : readV2(bytes)
}

function begins(bytes: Buffer, signature: Buffer): Buffer | 'partly' | undefined {
  const length = Math.min(bytes.length, signature.length)
  if (bytes.compare(signature, 0, length, 0, length) !== 0) return undefined
  return bytes.length < signature.length ? 'partly' : signature
}

// Version 1: one line of text.

const V1_LINE = /^PROXY (TCP4|TCP6) (\S+) (\S+) (0|[1-9]\d{0,4}) (0|[1-9]\d{0,4})$/

function readV1(bytes: Buffer): ProxyHeader | undefined {
  const end = bytes.indexOf('\r\n')
  if (end < 0) return bytes.length < V1_MAX_BYTES ? undefined : MALFORMED
  if (end + 2 > V1_MAX_BYTES) return MALFORMED
  const line = bytes.toString('latin1', 0, end)
  const usedBytes = end + 2
  if (line === 'PROXY UNKNOWN' || line.startsWith('PROXY UNKNOWN ')) return { kind: 'unchanged', usedBytes }
  const [, family, source = '', destination = '', port = '', destinationPort = ''] = V1_LINE.exec(line) ?? []
  if (family === undefined || Number(port) > 65_535 || Number(destinationPort) > 65_535) return MALFORMED
  const isAddress = family === 'TCP4' ? isIPv4 : isPlainIPv6
  if (!isAddress(source) || !isAddress(destination)) return MALFORMED
  return { kind: 'announced', usedBytes, address: canonical(ipaddr.parse(plain(source))), port: Number(port) }
}

/** The library treats `::192.0.2.7` as the IPv4-mapped address `::ffff:192.0.2.7`; it is a different address (RFC 4291, 2.5.5.1). */
function plain(address: string): string {
  return address.replace(/^::(?=\d+\.)/, '0::')
}

/** An address with a zone is valid only on the sender's machine. */
function isPlainIPv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%')
}

// Version 2: signature, version and command, family and transport, length; then addresses and TLVs.

const COMMAND_LOCAL = 0x20
const COMMAND_PROXY = 0x21
const INET_STREAM = 0x11
const INET6_STREAM = 0x21
/** Bytes of both addresses with their ports, by family. */
const ADDRESS_BYTES = [0, 12, 36, 216]
const MAX_TRANSPORT = 2

function readV2(bytes: Buffer): ProxyHeader | undefined {
  if (bytes.length < V2_FIXED_BYTES) return undefined
  const command = bytes[12]!
  if (command !== COMMAND_LOCAL && command !== COMMAND_PROXY) return MALFORMED
  const usedBytes = V2_FIXED_BYTES + bytes.readUInt16BE(14)
  if (bytes.length < usedBytes) return undefined
  // A LOCAL connection comes from the sender itself; the rest of the header must be skipped.
  if (command === COMMAND_LOCAL) return { kind: 'unchanged', usedBytes }
  const family = bytes[13]!
  const addressBytes = ADDRESS_BYTES[family >> 4]
  if (addressBytes === undefined || (family & 15) > MAX_TRANSPORT) return MALFORMED
  const tlvStart = V2_FIXED_BYTES + addressBytes
  if (tlvStart > usedBytes || !areTlvsSound(bytes.subarray(0, usedBytes), tlvStart)) return MALFORMED
  if (family === INET_STREAM) return announced(bytes, usedBytes, 4)
  if (family === INET6_STREAM) return announced(bytes, usedBytes, 16)
  // Unspecified, datagrams, Unix sockets: not an address of a TCP peer.
  return { kind: 'unchanged', usedBytes }
}

function announced(bytes: Buffer, usedBytes: number, width: 4 | 16): ProxyHeader {
  const source = ipaddr.fromByteArray([...bytes.subarray(V2_FIXED_BYTES, V2_FIXED_BYTES + width)])
  const port = bytes.readUInt16BE(V2_FIXED_BYTES + 2 * width)
  return { kind: 'announced', usedBytes, address: canonical(source), port }
}

const TLV_HEADER_BYTES = 3
const TLV_CRC32C = 0x03
const TLV_SSL = 0x20
/** Bits of the client and the result of its verification, before the sub-TLVs. */
const SSL_FIXED_BYTES = 5

/** Whether the TLVs fill the announced length and the checksum, if present, is correct. Other TLV contents are not used. */
function areTlvsSound(header: Buffer, start: number): boolean {
  let checksumAt = -1
  for (let at = start; at < header.length; ) {
    const end = endOfTlv(header, at, header.length)
    if (end > header.length) return false
    const value = at + TLV_HEADER_BYTES
    const type = header[at]
    if (type === TLV_CRC32C) {
      if (checksumAt >= 0 || end - value !== 4) return false
      checksumAt = value
    } else if (type === TLV_SSL && !isSslSound(header, value, end)) return false
    at = end
  }
  return checksumAt < 0 || hasChecksum(header, checksumAt)
}

function isSslSound(header: Buffer, start: number, end: number): boolean {
  let at = start + SSL_FIXED_BYTES
  while (at < end) at = endOfTlv(header, at, end)
  return at === end
}

/** @returns more than `limit` if the TLV extends beyond it */
function endOfTlv(header: Buffer, at: number, limit: number): number {
  const value = at + TLV_HEADER_BYTES
  return value > limit ? value : value + header.readUInt16BE(at + 1)
}

/** The checksum covers the whole header, with zeros in the checksum field. */
function hasChecksum(header: Buffer, at: number): boolean {
  const copy = Buffer.from(header)
  copy.writeUInt32BE(0, at)
  return crc32c(copy) === header.readUInt32BE(at)
}

/** Normalizes addresses, because they are compared as text. An IPv4-mapped IPv6 address becomes the IPv4 address. */
function canonical(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  if (!('isIPv4MappedAddress' in address)) return address.toString()
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.toRFC5952String()
}

function refused(why: ConnectionRefusal): ProxyHeader {
  return { kind: 'refused', usedBytes: 0, why }
}

const MALFORMED: ProxyHeader = refused('proxy-header-malformed')
