import { clock } from '#base/clock.ts'
import { cutText } from '#base/cut-text.ts'
import { BYTES, decodeMessage, field, INT32, INT64, message, repeated, STRING } from '#base/protobuf/message.ts'
import type { ExportResult } from './export-queue.ts'

/** `ExportLogsServiceResponse` and `ExportTraceServiceResponse`. */
const EXPORT_RESPONSE = message({
  partialSuccess: field(1, message({ rejected: field(1, INT64), errorMessage: field(2, STRING) })),
})

/** `google.rpc.Status`, which both transports use for errors. */
const STATUS = message({
  message: field(2, STRING),
  details: repeated(3, message({ typeUrl: field(1, STRING), value: field(2, BYTES) })),
})
/** `google.rpc.RetryInfo`: when to send again. */
const RETRY_INFO = message({ delay: field(1, message({ seconds: field(1, INT64), nanos: field(2, INT32) })) })

/** Statuses after which the same export may succeed (OTLP specification, "Failures"). */
const RETRYABLE_GRPC: ReadonlySet<string | undefined> = new Set([
  'CANCELLED',
  'DEADLINE_EXCEEDED',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNAVAILABLE',
  'DATA_LOSS',
])
const RETRYABLE_HTTP: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** @param body of a successful response */
export function readAccepted(body: Uint8Array): ExportResult {
  const partial = decodeMessage(EXPORT_RESPONSE, body)?.partialSuccess
  return { kind: 'accepted', rejectedItems: Math.max(0, partial?.rejected ?? 0), detail: partial?.errorMessage }
}

/**
 * @param status name of the gRPC status
 * @param details the trailer `grpc-status-details-bin`
 */
export function readGrpcError(status: string, cause: string, details: string | undefined): ExportResult {
  const retryAfterMs = details === undefined ? undefined : readRetryDelay(details)
  // A server that is exhausted for good does not say when to send again.
  const isRetryable = RETRYABLE_GRPC.has(status) || (status === 'RESOURCE_EXHAUSTED' && retryAfterMs !== undefined)
  return isRetryable ? { kind: 'failed', cause, retryAfterMs } : { kind: 'refused', cause }
}

/** @param retryAfter the field `retry-after` */
export function readHttpError(status: number, body: Uint8Array, retryAfter: string | undefined): ExportResult {
  const text = decodeMessage(STATUS, body)?.message ?? ''
  const cause = `the server answered ${status}${text === '' ? '' : `: ${cutText(text, MAX_TEXT)}`}`
  if (!RETRYABLE_HTTP.has(status)) return { kind: 'refused', cause }
  return { kind: 'failed', cause, retryAfterMs: retryAfter === undefined ? undefined : readRetryAfter(retryAfter) }
}

/** Of a text for operators, in characters. */
const MAX_TEXT = 200

function readRetryDelay(details: string): number | undefined {
  const status = decodeMessage(STATUS, Buffer.from(details, 'base64'))
  const info = status?.details?.find(({ typeUrl }) => typeUrl === 'type.googleapis.com/google.rpc.RetryInfo')
  const delay = info?.value && decodeMessage(RETRY_INFO, info.value)?.delay
  return delay && Math.max(0, (delay.seconds ?? 0) * 1000 + (delay.nanos ?? 0) / 1e6)
}

/** Seconds, or a date (RFC 9110, 10.2.3). */
function readRetryAfter(value: string): number | undefined {
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock.now())
}
