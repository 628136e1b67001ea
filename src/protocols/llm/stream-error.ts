import type { Abort } from '#net/stream.ts'
import type { AnswerFailure } from '../backend-protocol.ts'
import { memberOf, textAt } from './json/read-value.ts'
import type { SseBlock } from './sse/sse-block.ts'
import { isEventOf } from './stream-format.ts'

/** An error that a provider reports in a stream, after it has answered with status 200. */
export interface StreamError {
  /** The provider's type or code of it. */
  readonly type: string
  /** The request is the cause, not the provider. */
  readonly isFaultOfClient: boolean
}

/** Whether the event is an error by its name or type; others are errors if they have a top-level member `error` (`readError`). */
export function isErrorEvent(block: SseBlock): boolean {
  return isEventOf(block, 'error') || isEventOf(block, 'response.failed')
}

/** The error in an event of any dialect; undefined if it has none. */
export function readError(event: unknown): StreamError | undefined {
  const type = textAt(event, 'type')
  const holder = type === 'response.failed' ? memberOf(event, 'response') : event
  const error = memberOf(holder, 'error') ?? undefined
  if (error === undefined && type !== 'error') return undefined
  return classifyError(error ?? event)
}

/** The error of an event with the name `error` and unknown contents. */
export const UNKNOWN_ERROR: StreamError = { type: 'error', isFaultOfClient: false }

/** @param error an object with `type`, `code` and `status`, of which each may be absent */
export function classifyError(error: unknown): StreamError {
  const code = memberOf(error, 'code')
  const names = [memberOf(error, 'type'), code, memberOf(error, 'status')]
  // `error` is the type of the event in the responses API, not of the error.
  const type = names.find((name) => typeof name === 'string' && SANE_TYPE.test(name) && name !== 'error')
  return {
    type: typeof type === 'string' ? type : UNKNOWN_ERROR.type,
    isFaultOfClient: names.some((name) => FAULTS_OF_CLIENTS.has(name) || isFaultStatus(name)),
  }
}

/** Providers choose the text, and it goes to the log. */
const SANE_TYPE = /^[\w.-]{1,64}$/

/** Types and codes of errors in the request. Missing credentials, quotas and limits of rate are faults between gateway and provider. */
const FAULTS_OF_CLIENTS: ReadonlySet<unknown> = new Set([
  'invalid_request_error',
  'not_found_error',
  'request_too_large',
  'context_length_exceeded',
  'string_above_max_length',
  'invalid_prompt',
  'invalid_image',
  'invalid_base64_image',
  'content_filter',
  'content_policy_violation',
  'model_not_found',
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'FAILED_PRECONDITION',
  'validationException',
  'ValidationException',
  'resourceNotFoundException',
])

/** Some providers use the number of a status as code. */
function isFaultStatus(code: unknown): boolean {
  return code === 400 || code === 404 || code === 413 || code === 422
}

/** A stream that the provider, or the connection to it, broke off, or that ended too early. */
export function brokenStream(why: Abort | 'incomplete'): AnswerFailure {
  const cut = why === 'incomplete' ? undefined : why
  return { detail: `the provider's stream ended early: ${why}`, unhealthy: true, cut }
}

export function reportedError({ type, isFaultOfClient }: StreamError): AnswerFailure {
  return { detail: `the provider's response failed: ${type}`, unhealthy: !isFaultOfClient, cut: undefined }
}
