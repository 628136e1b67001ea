import type { Head } from '#net/http/head.ts'

/**
 * Values of a header as received, independent of changes by policies: authentication policies must not affect each other, and a
 * transformation must not disable a check (decisions ). `_` and `-` are equivalent in the name (decision A-134). A head that was
 * not received has its current values. `name` in lower case.
 */
export function receivedValues(head: Head, name: string): string[] {
  if (head.received === 0) return head.getAll(name)
  const values: string[] = []
  for (let at = 0; at < head.received; at++) if (head.isNamed(at, name)) values.push(head.receivedValue(at))
  return values
}
