import type { Head } from '#net/http/head.ts'

/** Version, trace id, parent id, flags (W3C Trace Context, 3.2). */
const FORM = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** Bit of the flags: the sender records the trace. */
export const SAMPLED = 1

/** What a request says about its trace. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly parentId: string
  /** One byte. */
  readonly flags: number
}

/** The trace that a request belongs to, as it says; a value that is not valid counts as absent. */
export function traceParent(head: Head): string | undefined {
  const value = head.joined('traceparent')
  return value !== undefined && FORM.test(value) ? value : undefined
}

/** The parts of that value. */
export function traceContext(head: Head): TraceContext | undefined {
  const value = head.joined('traceparent')
  if (value === undefined) return undefined
  const [, traceId, parentId, flags] = FORM.exec(value) ?? []
  return traceId === undefined ? undefined : { traceId, parentId: parentId!, flags: Number.parseInt(flags!, 16) }
}

/** The id of that trace: 32 hexadecimal digits. */
export function traceId(head: Head): string | undefined {
  return traceContext(head)?.traceId
}
