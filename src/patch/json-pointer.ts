import { PatchError } from './patched.ts'

/**
 * The tokens of a JSON pointer (RFC 6901); none for the whole document.
 * @throws PatchError BadRequest
 */
export function parsePointer(text: string): readonly string[] {
  if (text === '') return []
  if (!text.startsWith('/'))
    throw new PatchError('BadRequest', `invalid JSON pointer ${quoted(text)}: must begin with "/"`)
  return text.slice(1).split('/').map(unescapeToken)
}

function unescapeToken(token: string): string {
  if (!token.includes('~')) return token
  if (/~(?![01])/.test(token)) {
    throw new PatchError('BadRequest', `invalid JSON pointer token ${quoted(token)}: "~" must be followed by 0 or 1`)
  }
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** The index that a token of an array means (RFC 6901, 4), at most `last`; undefined if there is none. */
export function indexOf(token: string, last: number): number | undefined {
  if (!/^(?:0|[1-9]\d{0,9})$/.test(token)) return undefined
  const index = Number(token)
  return index <= last ? index : undefined
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
