import { decodeBase64Url } from '#base/base64url.ts'
import { CelError, noSuchKey, TOO_LARGE } from '../error.ts'
import { fromJson, toJsonText } from '../json.ts'
import { define, type Overload } from '../overload.ts'
import { decodeUtf8 } from '../text.ts'
import type { Result, Value } from '../value.ts'
import { Double } from '../value.ts'
import { isTooLarge } from '../value-size.ts'
import { findMember } from './json-member.ts'

const NOT_JSON = new CelError('invalid', 'not JSON')
const NOT_A_JWT = new CelError('invalid', 'not a JSON web token')

/** JSON in and out, and the unverified look into a token. */
export const JSON_FUNCTIONS: readonly Overload[] = [
  define('json(string) -> dyn', parseJson),
  define('json(bytes) -> dyn', (bytes: Uint8Array) => withText(bytes, parseJson)),
  define('jsonField(string, string) -> dyn', jsonField),
  define('jsonField(bytes, string) -> dyn', (bytes: Uint8Array, name: string) =>
    withText(bytes, (text) => jsonField(text, name)),
  ),
  define('toJson(dyn) -> string', stringify),
  define('to_json(dyn) -> string', stringify),
  define('unvalidatedJwtPayload(string) -> map(string, dyn)', jwtPayload),
]

function withText(bytes: Uint8Array, run: (text: string) => Result): Result {
  const text = decodeUtf8(bytes)
  return text === undefined ? NOT_JSON : run(text)
}

/** Numbers that `JSON.parse` would not keep as written: `1.0`, `1e3`, more than 15 digits. May be found in a string. */
const DELICATE_NUMBER = /(?:^|[:,[\s])-?(?:\d{16}|\d+\.0+(?:$|[\s,\]}])|\d+(?:\.\d+)?[eE])/

/** Parses JSON; numbers keep their sort: `1` is an int, `1.0` a double, large ints stay exact. */
function parseJson(text: string): Result {
  try {
    return fromJson(DELICATE_NUMBER.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text))
  } catch {
    return NOT_JSON
  }
}

function exactNumber(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value
  if (/[.eE]/.test(context.source)) return new Double(value)
  if (Number.isSafeInteger(value)) return value
  const exact = BigInt(context.source)
  return exact >= -(2n ** 63n) && exact < 2n ** 63n ? exact : value
}

function jsonField(text: string, name: string): Result {
  const found = findMember(text, name)
  if (found === 'not-json') return NOT_JSON
  return found === undefined ? noSuchKey(name) : parseJson(text.slice(found.start, found.end))
}

function stringify(value: Value): Result {
  if (isTooLarge(value)) return TOO_LARGE
  return toJsonText(value)
}

function jwtPayload(token: string): Result {
  const parts = token.split('.')
  if (parts.length !== 3) return NOT_A_JWT
  const bytes = decodeBase64Url(parts[1]!)
  const json = bytes === undefined ? undefined : decodeUtf8(bytes)
  const payload = json === undefined ? NOT_A_JWT : parseJson(json)
  return payload !== null && typeof payload === 'object' && 'keys' in payload && !Array.isArray(payload)
    ? payload
    : NOT_A_JWT
}
