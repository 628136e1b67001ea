import { isDelicate, parseExactJson } from '#base/exact-json.ts'
import { hasEscapedKey } from '#base/parse-json.ts'
import { charge } from '../budget.ts'
import { CelError } from '../error.ts'
import { fromJson } from '../json.ts'
import { decodeUtf8 } from '../text.ts'
import type { Result } from '../value.ts'
import { WEIGHTS } from '../weights.ts'

export const NOT_JSON = new CelError('invalid', 'not JSON')

/** Parses JSON. Numbers keep their type (`1` is an int, `1.0` a double), and are written as they were read. */
export function parseJson(text: string): Result {
  charge(countDelimiters(text) * (isReadTwice(text) ? WEIGHTS.exactJsonDelimiter : WEIGHTS.jsonDelimiter))
  try {
    return fromJson(parseExactJson(text))
  } catch (error) {
    if (error instanceof SyntaxError) return NOT_JSON
    throw error
  }
}

function isReadTwice(text: string): boolean {
  return isDelicate(text) || hasEscapedKey(text)
}

/** The last parsed bytes and their value, kept until the end of the event loop turn, so that several rules parse one body once. */
let latest: { readonly bytes: Uint8Array; readonly value: Result } | undefined

function forgetLatest(): void {
  latest = undefined
}

/** The same for UTF-8 bytes, which must not change afterwards. */
export function parseJsonBytes(bytes: Uint8Array): Result {
  if (latest?.bytes === bytes) return latest.value
  charge(bytes.length * WEIGHTS.utf8Byte)
  const text = decodeUtf8(bytes)
  const value = text === undefined ? NOT_JSON : parseJson(text)
  if (latest === undefined) queueMicrotask(forgetLatest)
  latest = { bytes, value }
  return value
}

const IS_DELIMITER = Uint8Array.from({ length: 128 }, (_, code) =>
  '",:[{'.includes(String.fromCharCode(code)) ? 1 : 0,
)

/** Parsing time depends on the number of values. Delimiters inside strings are counted too. */
function countDelimiters(text: string): number {
  charge(text.length * WEIGHTS.jsonUnit)
  let count = 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 128) count += IS_DELIMITER[unit]!
  }
  return count
}
