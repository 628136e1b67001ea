import type { RejectionCode } from '#base/rejections.ts'
import type { FailureCode } from '#net/failure.ts'
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
    case 'request-headers-too-large':
      return 'headers-too-large'
    default:
      return 'upstream-failed'
  }
}

/** Advice for failures that a change of configuration may solve. */
const ADVICE: Partial<Record<FailureCode, string>> = {
  timeout: ' (backend.http.requestTimeout)',
  'connect-timeout': ' (backend.tcp.connectTimeout)',
  'not-http2': ' (set backend.http.version to HTTP1, or appProtocol of the Service port to http)',
}

/** The refusal of a request or connection that failed at `endpoint`. */
export function rejectFailure(
  { code, detail }: { readonly code: FailureCode; readonly detail: string | undefined },
  endpoint: string,
): Refusal {
  const at = `${code} at ${endpoint}${ADVICE[code] ?? ''}`
  return reject(failureRejection(code), {
    detail: detail === undefined || detail === endpoint ? at : `${at}: ${detail}`,
  })
}
