import ipaddr from 'ipaddr.js'

/** An IP address as its 16-bit groups: 2 for version 4, 8 for version 6. */
export type Groups = readonly number[]

const V4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/

/**
 * Parses an address by the rules of Kubernetes validation: no leading zeros, no zones, no IPv4-mapped IPv6.
 * @returns undefined for anything else
 */
export function parseIpAddress(text: string): Groups | undefined {
  return text.includes(':') ? parseV6(text) : parseV4(text)
}

function parseV4(text: string): Groups | undefined {
  const found = V4.exec(text)
  if (found === null) return undefined
  const [a, b, c, d] = found.slice(1).map((part) => (part.length > 1 && part.startsWith('0') ? 256 : Number(part))) as [
    number,
    number,
    number,
    number,
  ]
  if (a > 255 || b > 255 || c > 255 || d > 255) return undefined
  return [a * 256 + b, c * 256 + d]
}

function parseV6(text: string): Groups | undefined {
  if (text.length > 39) return undefined
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = parseGroups(halves[0]!)
  const tail = halves.length === 2 ? parseGroups(halves[1]!) : []
  if (head === undefined || tail === undefined) return undefined
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  const groups = [...head, ...Array.from({ length: missing }, () => 0), ...tail]
  const isMappedV4 = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  return isMappedV4 ? undefined : groups
}

function parseGroups(text: string): number[] | undefined {
  if (text === '') return []
  const parts = text.split(':')
  return parts.every((part) => /^[0-9a-fA-F]{1,4}$/.test(part))
    ? parts.map((part) => Number.parseInt(part, 16))
    : undefined
}

/** Whether a host is an IP address in any spelling. */
export function isIpAddress(host: string): boolean {
  return ipaddr.isValid(withoutZone(host))
}

/** Whether a host is a link-local IP address in any spelling (RFC 3927; RFC 4291, 2.5.6). */
export function isLinkLocal(host: string): boolean {
  return isIpAddress(host) && ipaddr.process(withoutZone(host)).range() === 'linkLocal'
}

function withoutZone(host: string): string {
  return host.split('%')[0]!
}

/** The canonical text (RFC 5952). */
export function formatIpAddress(groups: Groups): string {
  if (groups.length === 2) return groups.flatMap((group) => [group >> 8, group & 255]).join('.')
  const hex = groups.map((group) => group.toString(16)).join(':')
  const runs = [...hex.matchAll(/(?<![0-9a-f])0(?::0(?![0-9a-f]))+/g)]
  const longest = runs.reduce<RegExpMatchArray | undefined>(
    (best, run) => (best === undefined || run[0].length > best[0].length ? run : best),
    undefined,
  )
  if (longest === undefined) return hex
  const before = hex.slice(0, longest.index).replace(/:$/, '')
  const after = hex.slice(longest.index! + longest[0].length).replace(/^:/, '')
  return `${before}::${after}`
}

/** Whether the first `length` bits are equal; false for addresses of different versions. */
export function sharePrefix(a: Groups, b: Groups, length: number): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i * 16 < length; i++) {
    const bits = Math.min(16, length - i * 16)
    if ((a[i]! ^ b[i]!) >> (16 - bits) !== 0) return false
  }
  return true
}

/** The address with all bits after the prefix set to zero. */
export function maskAddress(groups: Groups, length: number): Groups {
  return groups.map((group, i) => {
    const bits = Math.max(0, Math.min(16, length - i * 16))
    return group & (0xffff << (16 - bits)) & 0xffff
  })
}
