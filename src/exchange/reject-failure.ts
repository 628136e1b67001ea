import type { RejectionCode } from '#base/rejections.ts'
import type { FailureCode } from '#net/failure.ts'
import type { CallFailure } from './call.ts'
import { type Refusal, reject } from './outcome.ts'

/** The refusal for a request without a response of a backend (decision A-109). Only operators see the cause. */
export function failureRejection(code: FailureCode): RejectionCode {
  switch (code) {
    case 'timeout':
    case 'connect-timeout':
    case 'wait-timeout':
    case 'no-streams-allowed':
      return 'upstream-timeout'
    case 'too-many-waiting':
    case 'too-many-connections':
      return 'upstream-overloaded'
    case 'address-not-allowed':
      return 'destination-not-allowed'
    case 'request-headers-too-large':
      return 'headers-too-large'
    // A connection was made, and what came over it is not a response (RFC 9110, 15.6.3).
    case 'protocol-error':
    case 'not-http2':
      return 'upstream-answer-invalid'
    case 'tls-settings-unusable':
      return 'backend-invalid'
    default:
      return 'upstream-failed'
  }
}

/** Advice for failures that a change of configuration may solve. */
const ADVICE: Partial<Record<CallFailure, string>> = {
  timeout: ' (backend.http.requestTimeout, or timeouts.backendRequest of the route rule)',
  'connect-timeout': ' (backend.tcp.connectTimeout)',
  'not-http2': ' (set backend.http.version to HTTP1, or appProtocol of the Service port to http)',
  'too-many-waiting': ' (annotation gatewright.dev/max-waiting-requests)',
  'too-many-connections': ' (annotation gatewright.dev/max-connections)',
}

/** A failure on the way to a backend. */
interface BackendFailure<Code extends CallFailure> {
  readonly code: Code
  readonly detail: string | undefined
}

/** The cause and the setting that may solve it, for operators. @param place `at 10.0.0.1:80`, `from target a` */
export function describeCause({ code, detail }: BackendFailure<CallFailure>, place: string): string {
  const cause = `${code} ${place}${ADVICE[code] ?? ''}`
  return detail === undefined ? cause : `${cause}: ${detail}`
}

/** The bound of a backend that is reached, and the annotation that sets it, which the client may know; undefined: the cause is another one. */
export function reachedBound({ code, detail }: BackendFailure<CallFailure>): string | undefined {
  if (code !== 'too-many-waiting' && code !== 'too-many-connections') return undefined
  if (detail === undefined) return undefined
  return `${detail}${ADVICE[code] ?? ''}`
}

/** The refusal of a request or connection that failed at `endpoint`. */
export function rejectFailure(failure: BackendFailure<FailureCode>, endpoint: string): Refusal {
  const { code, detail } = failure
  return reject(failureRejection(code), {
    detail: describeCause(detail === endpoint ? { code, detail: undefined } : failure, `at ${endpoint}`),
    limit: reachedBound(failure),
  })
}
