import { hash } from 'node:crypto'
import type { ResourceKey } from './resource.ts'

/** The name space of our names (RFC 9562, 6.6): a random id. */
const NAME_SPACE = Buffer.from('5d0ccd94a6a34ff9a3a5b7a9a2c1f0e6', 'hex')
/** The three names of a key have at most 253 characters each, which are ASCII. */
const NAMED = Buffer.alloc(1024)
NAME_SPACE.copy(NAMED)

/** Where the groups of digits begin, in a digest and in an id. */
const GROUPS = [
  [0, 0, 8],
  [8, 9, 4],
  [12, 14, 4],
  [16, 19, 4],
  [20, 24, 12],
] as const
const ID = Buffer.from('00000000-0000-0000-0000-000000000000')

/** The id of an object whose source has none: the same in each process (RFC 9562, version 5). */
export function uidOfKey({ collection, namespace, name }: ResourceKey): string {
  const end = NAME_SPACE.length + NAMED.write(`${collection}/${namespace}/${name}`, NAME_SPACE.length)
  const digest = hash('sha1', NAMED.subarray(0, end), 'buffer')
  digest[6] = (digest[6]! & 0x0f) | 0x50
  digest[8] = (digest[8]! & 0x3f) | 0x80
  const digits = digest.toString('hex', 0, 16)
  for (const [from, to, length] of GROUPS) ID.write(digits.slice(from, from + length), to, 'latin1')
  // One piece of memory: a text that is put together keeps its parts.
  return ID.latin1Slice(0, ID.length)
}
