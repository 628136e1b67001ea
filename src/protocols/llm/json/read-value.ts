import { numberIn, parseExactJson } from '#base/exact-json.ts'
import { parseJson } from '#base/parse-json.ts'
import { decodeText } from './native.ts'

/** The value of a JSON text, whose numbers are preserved as they were written; undefined if it is not JSON. */
export function parseValue(json: Uint8Array): unknown {
  try {
    return parseExactJson(decodeText(json))
  } catch {
    return undefined
  }
}

export function isJson(text: string): boolean {
  try {
    parseJson(text)
    return true
  } catch {
    return false
  }
}

/** Member `key` of a parsed JSON value; undefined if the value is not an object. */
export function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Readonly<Record<string, unknown>>)[key]
}

/** The same if it is a string. */
export function textAt(value: unknown, key: string): string | undefined {
  const member = memberOf(value, key)
  return typeof member === 'string' ? member : undefined
}

/** The same if it is an object. */
export function objectAt(value: unknown, key: string): object | undefined {
  const member = memberOf(value, key)
  return typeof member === 'object' && member !== null ? member : undefined
}

/** The elements of a parsed JSON list; none if the value is not a list. */
export function elementsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** No call has so many tokens. Sums of larger numbers, and their costs, would not be exact, and one of them would stay in a limit for years. */
const MAX_COUNT = 1e12

/** Member `key` if it is a valid count of tokens, or a position: a whole number. */
export function countAt(value: unknown, key: string): number | undefined {
  const count = numberIn(memberOf(value, key))
  return isCount(count) ? count : undefined
}

/** Whether a number can be a count of tokens. */
export function isCount(count: number | undefined): count is number {
  return count !== undefined && Number.isInteger(count) && count >= 0 && count <= MAX_COUNT
}
