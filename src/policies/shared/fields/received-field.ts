import type { Head } from '#net/http/head.ts'

/**
 * Values of a field as the request arrived, whatever policies have changed since: several authentication policies must not see
 * each other's work, and a transformation must not be able to disarm a check (decisions ).
 * `_` and `-` are one in the name (decision A-134). A head that never was on a wire has its current values. `name` in lower case.
 */
export function receivedValues(head: Head, name: string): string[] {
  if (head.received === 0) return head.getAll(name)
  const values: string[] = []
  for (let at = 0; at < head.received; at++) if (head.isNamed(at, name)) values.push(head.receivedValue(at))
  return values
}
