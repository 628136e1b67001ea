/** Names of the gRPC status codes, by code. */
const NAMES: readonly string[] = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
]

/** The name of a value of `grpc-status`. Other values than the defined ones are `UNKNOWN` (gRPC, "Status codes"). */
export function grpcStatusName(value: string): string {
  return (/^(?:0|[1-9][0-9]?)$/.test(value) ? NAMES[Number(value)] : undefined) ?? 'UNKNOWN'
}

/** A text as value of `grpc-message`: UTF-8, percent-encoded. */
export function encodeGrpcMessage(text: string): string {
  return text.replace(/[^!-$&-~]/gu, (character) => encodeURIComponent(character))
}

/** The text of `grpc-message`. A value that is not encoded correctly is shown as it is. */
export function decodeGrpcMessage(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** At most eight digits (gRPC over HTTP/2, "Timeout"). */
const MAX_MS = 99_999_999

/** A value of `grpc-timeout`, in milliseconds if they fit. */
export function grpcTimeout(ms: number): string {
  return ms <= MAX_MS ? `${Math.ceil(ms)}m` : `${Math.min(MAX_MS, Math.ceil(ms / 1000))}S`
}

/** Milliseconds of the units of `grpc-timeout`. */
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 }

/** A timer has no more. */
const LONGEST_MS = 2_147_483_647

/** The whole milliseconds of a value of `grpc-timeout`, at least 1; undefined if it is malformed (gRPC over HTTP/2, "Timeout"). */
export function readGrpcTimeout(value: string): number | undefined {
  const unit = /^[0-9]{1,8}[HMSmun]$/.test(value) ? UNITS[value.at(-1)!] : undefined
  return unit && Math.min(Math.max(1, Math.ceil(Number.parseInt(value, 10) * unit)), LONGEST_MS)
}
