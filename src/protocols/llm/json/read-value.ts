import { numberIn } from '#base/exact-json.ts'

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

/** Member `key` if it is a valid count of tokens, or a position. */
export function countAt(value: unknown, key: string): number | undefined {
  const count = numberIn(memberOf(value, key))
  return count !== undefined && Number.isFinite(count) && count >= 0 ? count : undefined
}
