import { sha256 } from '#base/sha256.ts'
import { charge } from '../budget.ts'
import { CelError } from '../error.ts'
import { decodeBase64, encodeBase64 } from '../json.ts'
import { EntryMap } from '../map-value.ts'
import { define, type Overload } from '../overload.ts'
import { decodeUtf8, encodeUtf8 } from '../text.ts'
import type { MapValue, Result, Value } from '../value.ts'
import { WEIGHTS, weightOf } from '../weights.ts'
import { md5, sha1 } from './digest.ts'

const NOT_BASE64 = new CelError('invalid', 'not base64')
const NOT_UTF8 = new CelError('invalid', 'invalid UTF-8')

/** base64, percent encoding, form encoding and digests. */
export const ENCODERS: readonly Overload[] = [
  ...['base64.encode', 'base64Encode'].flatMap((name) => onTextAndBytes(name, encodeBase64)),
  ...['base64.decode', 'base64Decode'].flatMap((name) => [
    define(`${name}(string) -> bytes`, (text: string) => decodeBase64(text) ?? NOT_BASE64),
    define(`${name}(bytes) -> bytes`, (bytes: Uint8Array) => decodeBase64(decodeUtf8(bytes) ?? '*') ?? NOT_BASE64),
  ]),
  ...onTextAndBytes('md5.encode', (bytes) => md5(bytes).toHex()),
  ...onTextAndBytes('sha1.encode', (bytes) => sha1(bytes).toHex()),
  ...onTextAndBytes('sha256.encode', (bytes) => sha256(bytes).toHex()),
  define('url.encode(string) -> string', percentEncode),
  define('url.decode(string) -> string', percentDecode),
  define('form.encode(map(string, dyn)) -> string', encodeForm),
  define('form.decode(string) -> map(string, dyn)', decodeForm),
]

function onTextAndBytes(name: string, encode: (bytes: Uint8Array) => string): Overload[] {
  return [
    define(`${name}(string) -> string`, (text: string) => encode(encodeUtf8(text))),
    define(`${name}(bytes) -> string`, encode),
  ]
}

/** Encodes everything except the unreserved characters of RFC 3986. */
function percentEncode(text: string): string {
  const encoded = encodeURIComponent(text.toWellFormed())
  return encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** An invalid escape and `+` are unchanged. */
function percentDecode(text: string): string | CelError {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text.replace(/%(?![0-9a-fA-F]{2})/g, '%25'))
  } catch {
    return NOT_UTF8
  }
}

function decodeForm(text: string): Result {
  const map = new EntryMap()
  for (const pair of text.split('&')) {
    charge(WEIGHTS.part + WEIGHTS.entry)
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = percentDecode((equals < 0 ? pair : pair.slice(0, equals)).replaceAll('+', ' '))
    const value = percentDecode((equals < 0 ? '' : pair.slice(equals + 1)).replaceAll('+', ' '))
    if (name instanceof CelError) return name
    if (value instanceof CelError) return value
    const earlier = map.get(name)
    if (Array.isArray(earlier)) (earlier as Value[]).push(value)
    else map.set(name, earlier === undefined ? value : [earlier, value])
  }
  return map
}

function encodeForm(map: MapValue): Result {
  const pairs: string[] = []
  for (const key of [...map.keys()].sort()) {
    charge(WEIGHTS.entry)
    const value = typeof key === 'string' ? map.get(key) : undefined
    if (value instanceof CelError) return value
    if (value === null) continue
    for (const item of Array.isArray(value) ? (value as readonly Value[]) : [value]) {
      charge(WEIGHTS.entry)
      const text = formText(item)
      if (text === undefined) return new CelError('no-such-overload', 'form.encode() takes strings, numbers and bools')
      charge((String(key).length + text.length) * weightOf('url.encode').unit)
      pairs.push(`${formEscape(String(key))}=${formEscape(text)}`)
    }
  }
  return pairs.join('&')
}

function formText(value: Value | undefined): string | undefined {
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
    case 'number':
    case 'bigint':
      return String(value)
    default:
      return undefined
  }
}

function formEscape(text: string): string {
  return percentEncode(text).replaceAll('%20', '+')
}
