import { textAt } from '../json/read-value.ts'
import type { AnswerError } from '../translation/answer-sink.ts'

/** The statuses that the vendor documents for its exceptions. */
const STATUSES: Readonly<Record<string, number>> = {
  accessDeniedException: 403,
  conflictException: 400,
  internalServerException: 500,
  modelErrorException: 424,
  modelNotReadyException: 429,
  modelStreamErrorException: 424,
  modelTimeoutException: 408,
  resourceNotFoundException: 404,
  serviceQuotaExceededException: 400,
  serviceUnavailableException: 503,
  throttlingException: 429,
  validationException: 400,
}

/** An exception within a stream. @param name in camel case, as the service sends it */
export function readException(name: string | undefined, payload: unknown): AnswerError {
  const type = name === undefined ? undefined : name.charAt(0).toLowerCase() + name.slice(1)
  const message = textAt(payload, 'message') ?? textAt(payload, 'Message')
  return {
    status: type !== undefined && Object.hasOwn(STATUSES, type) ? STATUSES[type]! : 500,
    type,
    message: message ?? `the provider reported ${type ?? 'an error'}`,
    code: undefined,
    param: undefined,
  }
}
