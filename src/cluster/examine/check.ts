/** What a check is about, in the order of reports. */
export const AREAS = [
  'server',
  'clocks',
  'definitions',
  'permissions',
  'controller',
  'gateways',
  'certificates',
] as const

/** `unknown`: it could not be checked. */
export type Verdict = 'ok' | 'warning' | 'failure' | 'unknown'

/** One thing about a cluster that was examined. */
export interface Check {
  readonly area: (typeof AREAS)[number]
  readonly verdict: Verdict
  /** What was found, or why it is not known. */
  readonly detail: string
  /** What to do about it. */
  readonly change?: string
}

type Area = Check['area']

export function ok(area: Area, detail: string): Check {
  return { area, verdict: 'ok', detail }
}

export function warning(area: Area, detail: string, change: string): Check {
  return { area, verdict: 'warning', detail, change }
}

export function failure(area: Area, detail: string, change: string): Check {
  return { area, verdict: 'failure', detail, change }
}

/** @param what was not checked */
export function unknown(area: Area, what: string, why: string): Check {
  return { area, verdict: 'unknown', detail: `${what}: ${why}` }
}
