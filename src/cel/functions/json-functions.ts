import { decodeBase64Url } from '#base/base64url.ts'
import { CelError, NO_SUCH_KEY } from '../error.ts'
import { toJsonText } from '../json.ts'
import { define, type Overload } from '../overload.ts'
import { decodeUtf8 } from '../text.ts'
import type { Result } from '../value.ts'
import { findMember } from './json-member.ts'
import { NOT_JSON, parseJson, parseJsonBytes } from './parse-json.ts'

const NOT_A_JWT = new CelError('invalid', 'not a JSON web token')

/** Functions that parse and write JSON, and that read the payload of a JWT without validation. */
export const JSON_FUNCTIONS: readonly Overload[] = [
  define('json(string) -> dyn', parseJson),
  define('json(bytes) -> dyn', parseJsonBytes),
  define('jsonField(string, string) -> dyn', jsonField),
  define('jsonField(bytes, string) -> dyn', (bytes: Uint8Array, name: string) => {
    const text = decodeUtf8(bytes)
    return text === undefined ? NOT_JSON : jsonField(text, name)
  }),
  define('toJson(dyn) -> string', toJsonText),
  define('to_json(dyn) -> string', toJsonText),
  define('unvalidatedJwtPayload(string) -> map(string, dyn)', jwtPayload),
]

function jsonField(text: string, name: string): Result {
  const found = findMember(text, name)
  if (found === 'not-json') return NOT_JSON
  return found === undefined ? NO_SUCH_KEY : parseJson(text.slice(found.start, found.end))
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
