import type { RejectionCode } from '#base/rejections.ts'
import { type Refusal, refusalStatus, refusalText, reject } from '#exchange/outcome.ts'
import type { AnswerError } from '../chat/answer-sink.ts'
import { MAX_MEMBERS } from '../json/scan-members.ts'
import { MAX_PARTS } from '../json/tape.ts'
import type { JsonFault } from '../json/unreadable.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { FORMATS, formatOf } from './index.ts'

/**
 * A refusal in the JSON error format of the client's dialect (docs/behaviour/llm.md, "Errors"). `publicDetail` follows the text of the
 * catalogue; it must not contain anything that the client did not send or may not know.
 */
export function refuse(type: RouteType, code: RejectionCode, publicDetail?: string): Refusal {
  return formatRefusal(type, reject(code, { detail: publicDetail }), publicDetail)
}

/** The provider cannot take a request that another one of its backend may take. */
export function refuseUnfit(type: RouteType, code: RejectionCode, publicDetail?: string): Refusal {
  return { ...refuse(type, code, publicDetail), endpointFault: 'unfit' }
}

/**
 * Any refusal on an LLM route (no healthy backend, rate limit, authentication) in the client's dialect. A refusal with a configured or
 * formatted body stays unchanged.
 */
export function formatRefusal(type: RouteType, refusal: Refusal, publicDetail?: string): Refusal {
  if (refusal.body !== undefined) return refusal
  const text = refusalText(refusal)
  const message = publicDetail === undefined ? text : `${text}: ${publicDetail}`
  const error = { status: refusalStatus(refusal), type: undefined, message, code: refusal.code, param: undefined }
  return { ...refusal, body: formatClientError(type, error), contentType: 'application/json' }
}

/** A body that is no JSON object as it must be. */
export function refuseFault(type: RouteType, { fault, at }: JsonFault): Refusal {
  switch (fault) {
    case 'not-an-object':
      return refuse(type, 'llm-body-invalid', 'a JSON object is required')
    case 'duplicate-key':
      return refuse(type, 'llm-body-invalid', `duplicate key at byte ${at}`)
    case 'ambiguous-key':
      return refuse(type, 'llm-body-invalid', `key with different letter case at byte ${at}`)
    case 'too-many-parts':
      return refuse(type, 'llm-body-invalid', `more than ${MAX_PARTS} objects, lists and members`)
    case 'too-many-members':
      return refuse(type, 'llm-body-invalid', `more than ${MAX_MEMBERS} members`)
    case 'not-json':
      return refuse(type, 'llm-body-invalid', `not JSON at byte ${at}`)
  }
}

/** The body of an error in the format of the client; types without a format use that of chat completions. */
export function formatClientError(type: RouteType, error: AnswerError): string {
  return (formatOf(type) ?? FORMATS.Completions).formatError(error)
}
