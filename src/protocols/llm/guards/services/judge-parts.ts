import type { GuardSurroundings, ServiceVerdict } from './service.ts'

/** How many parts of a long text a service judges at a time. */
const AT_ONCE = 4

/**
 * Judges parts one after the other, some at a time. After the first verdict in order that is not a pass, the other questions end.
 * @returns that verdict; otherwise the last one, or a pass if there is no part
 */
export async function judgeParts<Part>(
  parts: readonly Part[],
  around: GuardSurroundings,
  judge: (part: Part, around: GuardSurroundings) => Promise<ServiceVerdict>,
): Promise<ServiceVerdict> {
  if (parts.length === 1) return judge(parts[0]!, around)
  const needless = new AbortController()
  const ended = { ...around, signal: AbortSignal.any([around.signal, needless.signal]) }
  let verdict: ServiceVerdict = { kind: 'pass' }
  for (let from = 0; from < parts.length; from += AT_ONCE) {
    const pending = parts.slice(from, from + AT_ONCE).map((part) => judge(part, ended))
    for (const asked of pending) {
      verdict = await asked
      if (verdict.kind === 'pass') continue
      needless.abort()
      return verdict
    }
  }
  return verdict
}
