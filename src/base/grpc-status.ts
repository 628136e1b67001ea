import type { RejectionCode } from './rejections.ts'

/** Status codes of gRPC that the gateway uses; the names are those of the protocol. */
const DEADLINE_EXCEEDED = 4
const INTERNAL = 13
const PERMISSION_DENIED = 7
const UNAUTHENTICATED = 16
const UNAVAILABLE = 14
const UNIMPLEMENTED = 12
const UNKNOWN = 2

/** The gRPC status that replaces an HTTP status (docs/behaviour/http.md, "Refusals"). */
const BY_HTTP_STATUS: Readonly<Record<number, number>> = {
  400: INTERNAL,
  401: UNAUTHENTICATED,
  403: PERMISSION_DENIED,
  404: UNIMPLEMENTED,
  407: UNAUTHENTICATED,
  429: UNAVAILABLE,
  502: UNAVAILABLE,
  503: UNAVAILABLE,
  504: UNAVAILABLE,
}

/** Refusals whose code determines the gRPC status more precisely than their HTTP status. */
const BY_CODE: Partial<Record<RejectionCode, number>> = {
  // GRPCRouteRule.backendRefs (Gateway API): calls whose backend cannot be used get UNAVAILABLE.
  'request-timeout': DEADLINE_EXCEEDED,
  'no-valid-backends': UNAVAILABLE,
  'backend-missing': UNAVAILABLE,
  'backend-invalid': UNAVAILABLE,
}

/** The gRPC status of a refusal whose HTTP status is `httpStatus`. */
export function grpcStatusOf(code: RejectionCode, httpStatus: number): number {
  return BY_CODE[code] ?? BY_HTTP_STATUS[httpStatus] ?? UNKNOWN
}
