/**
 * Supported revisions of the protocol with sessions, oldest first. Revisions are dates, so text order is their order.
 */
const SESSION_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const

/** Supported revisions without sessions: each request names its revision and the capabilities of its client. */
const SESSIONLESS_REVISIONS = ['2026-07-28'] as const

/** All supported revisions. */
export const REVISIONS: readonly string[] = [...SESSION_REVISIONS, ...SESSIONLESS_REVISIONS]

/** The newest revision with sessions that is offered to targets. */
export const LATEST_REVISION = '2025-11-25'

/** The newest revision without sessions. */
export const LATEST_SESSIONLESS = '2026-07-28'

/** `legacy`: a revision with sessions. `modern`: one without. The names are those of the SDKs. */
export type Era = 'legacy' | 'modern'

/** The era of a revision; undefined: it is not supported. */
export function eraOf(version: string): Era | undefined {
  if (isSessionRevision(version)) return 'legacy'
  return (SESSIONLESS_REVISIONS as readonly string[]).includes(version) ? 'modern' : undefined
}

export function isSessionRevision(version: string): boolean {
  return (SESSION_REVISIONS as readonly string[]).includes(version)
}

/** The revision to request from targets: the client's if the gateway supports it, else the newest one, as a server would respond. */
export function offeredRevision(wish: string | undefined): string {
  return wish !== undefined && isSessionRevision(wish) ? wish : LATEST_REVISION
}
