/**
 * Supported revisions of the protocol, with sessions, oldest first. 2026-07-28, which has no sessions, is not supported yet. Revisions are
 * dates, so text order is their order.
 */
export const SESSION_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const

/** The newest revision that is offered to targets. */
export const LATEST_REVISION = '2025-11-25'

export function isSessionRevision(version: string): boolean {
  return (SESSION_REVISIONS as readonly string[]).includes(version)
}

/** The revision to request from targets: the client's if the gateway supports it, else the newest one, as a server would respond. */
export function offeredRevision(wish: string | undefined): string {
  return wish !== undefined && isSessionRevision(wish) ? wish : LATEST_REVISION
}
