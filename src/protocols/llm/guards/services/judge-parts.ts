import type { ServiceVerdict } from './service.ts'

/** How many parts of a long text a service judges at a time. */
const AT_ONCE = 4

/**
 * Judges parts one after the other, some at a time.
 * @returns the first verdict in order that is not a pass; otherwise the last one
 */
export async function judgeParts<Part>(
  parts: readonly Part[],
  judge: (part: Part) => Promise<ServiceVerdict>,
): Promise<ServiceVerdict> {
  let verdict: ServiceVerdict = { kind: 'pass' }
  for (let from = 0; from < parts.length; from += AT_ONCE) {
    const verdicts = await Promise.all(parts.slice(from, from + AT_ONCE).map(judge))
    const ends = verdicts.find(({ kind }) => kind !== 'pass')
    if (ends !== undefined) return ends
    verdict = verdicts.at(-1)!
  }
  return verdict
}
