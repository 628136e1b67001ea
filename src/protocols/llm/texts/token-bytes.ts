import type { JsonValue } from '../json/json-document.ts'

/** What providers write for bytes that are no character by themselves: `\xc3`, or a replacement character. */
const CUT = /\\x[0-9a-f]{2}|\ufffd/i
const ESCAPES = /\\x[0-9a-f]{2}/gi

/** No token has a longer list. */
const LONGEST_LIST = 1024

/**
 * The bytes of a token that is not whole characters. Undefined: it is.
 * @param holder has the token, and perhaps its bytes as numbers
 */
export function bytesOf(token: string, holder: JsonValue): Uint8Array | undefined {
  if (!CUT.test(token)) return undefined
  const given = holder.get('bytes')
  const isList = given?.kind === 'array' && given.end - given.place <= LONGEST_LIST
  const bytes = isList ? given.elements.map(({ number }) => number) : []
  if (bytes.length > 0 && bytes.every((byte) => byte >= 0 && byte <= 0xff)) return Uint8Array.from(bytes)
  const escapes = token.match(ESCAPES)
  return escapes === null ? undefined : Uint8Array.from(escapes, (written) => Number.parseInt(written.slice(2), 16))
}
