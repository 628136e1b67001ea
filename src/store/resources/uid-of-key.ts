import { hash } from 'node:crypto'
import type { ResourceKey } from './resource.ts'

/** The name space of our names (RFC 9562, 6.6): a random id. */
const NAME_SPACE = Buffer.from('5d0ccd94a6a34ff9a3a5b7a9a2c1f0e6', 'hex')
/** The three names of a key have at most 253 characters each, which are ASCII. */
const NAMED = Buffer.alloc(1024)
NAME_SPACE.copy(NAMED)

const ID = Buffer.from('00000000-0000-0000-0000-000000000000')
/** Where the digits are in an id. */
const DIGITS = [...ID.keys()].filter((at) => ID[at] === 0x30)
/** The digits of the fourth group that begin with the bits of the variant. */
const VARIANTS = Buffer.from('89ab')

/** The id of an object whose source has none: the same in each process (RFC 9562, version 5). */
export function uidOfKey({ collection, namespace, name }: ResourceKey): string {
  const end = NAME_SPACE.length + NAMED.write(`${collection}/${namespace}/${name}`, NAME_SPACE.length)
  const digest = hash('sha1', NAMED.subarray(0, end), 'hex')
  for (let at = 0; at < DIGITS.length; at += 1) ID[DIGITS[at]!] = digest.charCodeAt(at)
  ID[14] = 0x35
  ID[19] = VARIANTS[Number.parseInt(digest[16]!, 16) & 3]!
  // One piece of memory: a text that is put together keeps its parts.
  return ID.toString('latin1')
}
