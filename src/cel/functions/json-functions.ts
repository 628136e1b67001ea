import { decodeBase64Url } from '#base/base64url.ts'
import { parseExactJson } from '#base/exact-json.ts'
import { CelError, noSuchKey, TOO_LARGE } from '../error.ts'
import { fromJson, toJsonText } from '../json.ts'
import { define, type Overload } from '../overload.ts'
import { decodeUtf8 } from '../text.ts'
import type { Result, Value } from '../value.ts'
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

/** Parses JSON; numbers keep their sort, `1` is an int, `1.0` a double, and what is written again is as it was. */
function parseJson(text: string): Result {
  try {
    return fromJson(parseExactJson(text))
  } catch {
    return NOT_JSON
  }
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
