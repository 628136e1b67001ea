import type { Head } from './head.ts'

/** The longest wait, in milliseconds, that a client may spend before it repeats a request. */
const LONGEST_WAIT_MS = 60_000

/**
 * Tells clients that a longer wait is the end of the request. Official clients of LLM vendors sleep as long as `Retry-After` says, and the program
 * seems to hang until then; with `x-should-retry: false` they report the error at once. A field that the response already has stays.
 * @param nowMs in milliseconds since 1970
 */
export function discourageRetries(head: Head, nowMs: number): void {
  if (waitMs(head, nowMs) > LONGEST_WAIT_MS && !head.has('x-should-retry')) head.set('x-should-retry', 'false')
}

/** How long the response asks to wait, as these clients read it (RFC 9110, 10.2.3). NaN: it does not say. */
function waitMs(head: Head, nowMs: number): number {
  const milliseconds = Number.parseFloat(head.get('retry-after-ms') ?? '')
  if (milliseconds > 0) return milliseconds
  const text = head.get('retry-after') ?? ''
  const seconds = Number.parseFloat(text)
  return Number.isNaN(seconds) ? Date.parse(text) - nowMs : seconds * 1000
}
