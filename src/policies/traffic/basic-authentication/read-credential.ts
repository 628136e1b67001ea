import { bytesOf } from '#base/byte-text.ts'

/** The two parts of a credential. */
export interface UserPassword {
  readonly username: string
  readonly password: string
}

/** `htpasswd` takes no longer password; hashing a long one is expensive. In UTF-8 bytes. */
const MAX_PASSWORD_BYTES = 255

const BASE64 = /^(?:[+/0-9A-Za-z]{4})*(?:[+/0-9A-Za-z]{2}==|[+/0-9A-Za-z]{3}=)?$/
const CONTROL = /\p{Cc}/u
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes `user-pass` (RFC 7617, 2): base64 of UTF-8 text without control characters; the first colon ends the user name. */
export function readUserPassword(credential: string): UserPassword | undefined {
  if (!BASE64.test(credential)) return undefined
  const bytes = bytesOf(atob(credential))
  const text = decode(bytes)
  if (text === undefined || CONTROL.test(text)) return undefined
  const colon = text.indexOf(':')
  if (colon < 0 || bytes.length - bytes.indexOf(COLON) - 1 > MAX_PASSWORD_BYTES) return undefined
  return { username: text.slice(0, colon), password: text.slice(colon + 1) }
}

const COLON = 58

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
