import { endOfString } from './end-of-string.ts'
import { skipSpace, skipValue } from './skip-value.ts'

/**
 * Sees a member of an object: start and end of the key without its quotes, start and end of the value.
 * @returns false: the walk ends here
 */
export type SeeMember = (key: number, keyEnd: number, value: number, valueEnd: number) => boolean

/**
 * Shows the members of a text that is one JSON object, in one pass and without building values. UTF-8 is not checked, and keys may be equal.
 * @returns the length of the text; `~position` of the first byte that cannot belong to an object, or of the key at which the walk ended
 */
export function walkMembers(bytes: Uint8Array, see: SeeMember): number {
  let at = skipSpace(bytes, 0)
  if (bytes[at] !== 0x7b) return ~at
  at = skipSpace(bytes, at + 1)
  if (bytes[at] === 0x7d) return endOf(bytes, at + 1)
  for (;;) {
    if (bytes[at] !== 0x22) return ~at
    const key = at + 1
    const afterKey = endOfString(bytes, key)
    if (afterKey < 0) return afterKey
    at = skipSpace(bytes, afterKey)
    if (bytes[at] !== 0x3a) return ~at
    const value = skipSpace(bytes, at + 1)
    const valueEnd = skipValue(bytes, value)
    if (valueEnd < 0) return valueEnd
    if (!see(key, afterKey - 1, value, valueEnd)) return ~(key - 1)
    at = skipSpace(bytes, valueEnd)
    if (bytes[at] === 0x7d) return endOf(bytes, at + 1)
    if (bytes[at] !== 0x2c) return ~at
    at = skipSpace(bytes, at + 1)
  }
}

/** Only space may follow. */
function endOf(bytes: Uint8Array, at: number): number {
  const rest = skipSpace(bytes, at)
  return rest < bytes.length ? ~rest : rest
}
