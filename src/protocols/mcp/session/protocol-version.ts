/**
 * Revisions of the protocol with sessions, oldest first; 2026-07-28, which has none, is not spoken yet. They are dates, so text
 * order is their order.
 */
export const SESSION_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const

/** The newest revision that is offered to targets. */
export const LATEST_REVISION = '2025-11-25'

export function isSessionRevision(version: string): boolean {
  return (SESSION_REVISIONS as readonly string[]).includes(version)
}

/** What to ask targets for: the client's wish if we can follow it, else our newest, as a server would answer. */
export function offeredRevision(wish: string | undefined): string {
  return wish !== undefined && isSessionRevision(wish) ? wish : LATEST_REVISION
}
