import { compareText } from '#base/compare-text.ts'
import { isJsonObject } from './json-schema.ts'

/** A JSON value as text that is the same for equal values: the members of objects are sorted. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => compareText(a, b))) : member,
  )
}
