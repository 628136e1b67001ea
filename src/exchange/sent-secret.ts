import { bytesOf, byteTextOf } from '#base/byte-text.ts'
import { REDACTED } from '#base/credential-names.ts'
import type { Head } from '#net/http/head.ts'
import type { Exchange } from './exchange.ts'

/** A shorter text is no secret, and may be a part of any word. */
const MIN_LENGTH = 8

/** The credential of the gateway that a backend got with a request, and may quote in its response. */
export interface SentSecret {
  /** @returns the text without it */
  hideIn(text: string): string
  /**
   * The same for bytes of any content, JSON included.
   * @param isCut more bytes followed, so that they may end with the beginning of it
   */
  hideInBytes(bytes: Uint8Array, isCut?: boolean): Uint8Array
  /** Hides it in all fields. */
  hideInHead(head: Head): void
}

/**
 * The credential of the gateway in the request of the last attempt. Not for each response: it takes time.
 * @returns undefined if there is none
 */
export function sentSecret({ sentCredential }: Exchange): SentSecret | undefined {
  const secret = sentCredential?.replace(SCHEME, '').trim() ?? ''
  return secret.length < MIN_LENGTH ? undefined : hiding(secret)
}

const SCHEME = /^(?:bearer|basic) +/i

function hiding(secret: string): SentSecret {
  const hideIn = hider(secret)
  return {
    hideIn: (text) => hideIn(text),
    hideInBytes(bytes, isCut) {
      // Byte text, as the credential is.
      const text = byteTextOf(bytes)
      const hidden = hideIn(text, isCut)
      return hidden === text ? bytes : bytesOf(hidden)
    },
    hideInHead(head) {
      // A reason phrase of the provider could have it: that of the status replaces it.
      const { status } = head
      head.status = status
      const changed = new Set<string>()
      head.each((name, value) => {
        if (hideIn(value) !== value) changed.add(name)
      })
      for (const name of changed) {
        const values = head.getAll(name)
        head.remove(name)
        for (const value of values) head.append(name, hideIn(value))
      }
    },
  }
}

const RUN = /[0-9A-Za-z]+/g
/** As in `\u0041`. */
const MAX_ESCAPE_LENGTH = 6

/** Providers quote a credential as it is, in JSON, where each sign may be escaped, or in a URL. Signs before its first letter may stay. */
function hider(secret: string): (text: string, isCut?: boolean) => string {
  const runs = secret.match(RUN)
  // Nobody has a credential of signs alone.
  if (runs === null) return (text) => text.replaceAll(secret, REDACTED)
  const [first] = runs as [string]
  // All ways to quote it have this in common.
  const longest = runs.reduce((one, other) => (other.length > one.length ? other : one))
  const rest = secret.slice(secret.indexOf(first))
  return (text, isCut = false) => {
    if (!text.includes(isCut ? first : longest)) return text
    let hidden = ''
    let from = 0
    for (let at = text.indexOf(first); at >= 0; ) {
      const end = endOfQuote(text, at, rest, isCut)
      if (end >= 0) {
        hidden += text.slice(from, at) + REDACTED
        from = end
      }
      at = text.indexOf(first, end < 0 ? at + 1 : end)
    }
    return from === 0 ? text : hidden + text.slice(from)
  }
}

/** Where a quote of the secret ends that begins at `start`; -1: there is none. @param isCut the text may end within it */
function endOfQuote(text: string, start: number, secret: string, isCut: boolean): number {
  let at = start
  for (let i = 0; i < secret.length; i++) {
    const length = text[at] === secret[i] ? 1 : lengthOfEscape(text, at, secret.charCodeAt(i))
    if (length === 0) return isCut && i >= MIN_LENGTH && isCutAt(text, at) ? text.length : -1
    at += length
  }
  return at
}

/** Of an escape for a character, in JSON or in a URL; 0: there is none. */
function lengthOfEscape(text: string, at: number, code: number): number {
  if (text[at] === '%') return readsHex(text, at + 1, 2, code) ? 3 : 0
  if (text[at] !== '\\') return 0
  if (text.charCodeAt(at + 1) === code) return 2
  return text[at + 1] === 'u' && readsHex(text, at + 2, 4, code) ? 6 : 0
}

/** Whether the text ends there, or in an escape that begins there. */
function isCutAt(text: string, at: number): boolean {
  if (at === text.length) return true
  return (text[at] === '\\' || text[at] === '%') && text.length - at < MAX_ESCAPE_LENGTH
}

function readsHex(text: string, at: number, length: number, code: number): boolean {
  return text.slice(at, at + length).toLowerCase() === code.toString(16).padStart(length, '0')
}
