/** Refusals by the wire protocol; rejection codes of `base/rejections.ts`. */
export type WireRefusal =
  | 'malformed-request'
  /** The client sent a TLS handshake to a port without TLS. */
  | 'tls-not-expected'
  | 'host-invalid'
  | 'request-timeout-reading'
  | 'uri-too-long'
  | 'headers-too-large'
  | 'expectation-failed'
  | 'version-not-supported'
  | 'method-not-implemented'

/** Negative results of reading a head; a positive result is its length. */
export const INCOMPLETE = -1
export const MALFORMED = -2
export const HOST_INVALID = -3
export const URI_TOO_LONG = -4
export const HEADERS_TOO_LARGE = -5
export const EXPECTATION_FAILED = -6
export const VERSION_NOT_SUPPORTED = -7
export const METHOD_NOT_IMPLEMENTED = -8

/** The refusal for a negative result. */
export function refusalOf(outcome: number): WireRefusal {
  switch (outcome) {
    case HOST_INVALID:
      return 'host-invalid'
    case URI_TOO_LONG:
      return 'uri-too-long'
    case HEADERS_TOO_LARGE:
      return 'headers-too-large'
    case EXPECTATION_FAILED:
      return 'expectation-failed'
    case VERSION_NOT_SUPPORTED:
      return 'version-not-supported'
    case METHOD_NOT_IMPLEMENTED:
      return 'method-not-implemented'
    default:
      return 'malformed-request'
  }
}
