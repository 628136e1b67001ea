import type { Head } from '#net/http/head.ts'

/** Version, trace id, parent id, flags (W3C Trace Context, 3.2). */
const FORM = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The trace that a request belongs to, as it says; a value that is not valid counts as absent. */
export function traceParent(head: Head): string | undefined {
  const value = head.joined('traceparent')
  return value !== undefined && FORM.test(value) ? value : undefined
}

/** The id of that trace: 32 hexadecimal digits. */
export function traceId(head: Head): string | undefined {
  return FORM.exec(head.joined('traceparent') ?? '')?.[1]
}
