import { KNOWN_LLM_ERRORS } from '#exchange/known-llm-errors.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { Abort } from '#net/stream.ts'
import type { AnswerFailure } from '../../backend-protocol.ts'
import { isFaultOfClient, statusOfError } from '../chat/error-statuses.ts'
import { memberOf, textAt } from '../json/read-value.ts'
import type { SseBlock } from '../sse/sse-block.ts'
import { isEventOf } from './stream-format.ts'

/** An error that a provider reports in a stream, after it has answered with status 200. */
export interface StreamError {
  /** The provider's type or code of it. */
  readonly type: string
  /** That of the type. */
  readonly status: number
}

/** Whether the event is an error by its name or type; others are errors if they have a top-level member `error` (`errorOf`). */
export function isErrorEvent(block: SseBlock): boolean {
  return isEventOf(block, 'error') || isEventOf(block, 'response.failed')
}

/** The error in an event of any dialect; undefined if it has none. */
export function errorOf(event: unknown): StreamError | undefined {
  const type = textAt(event, 'type')
  const holder = type === 'response.failed' ? memberOf(event, 'response') : event
  const error = memberOf(holder, 'error') ?? undefined
  if (error === undefined && type !== 'error') return undefined
  return classifyError(error ?? event)
}

/** The error of an event with the name `error` and unknown contents. */
export const UNKNOWN_ERROR: StreamError = { type: 'error', status: 500 }

/** @param error an object with `type`, `code` and `status`, of which each may be missing */
export function classifyError(error: unknown): StreamError {
  const code = memberOf(error, 'code')
  const names = [memberOf(error, 'type'), code, memberOf(error, 'status')]
  // `error` is the type of the event in the responses API, not of the error.
  const type = names.find((name) => typeof name === 'string' && SANE_TYPE.test(name) && name !== 'error')
  return {
    type: typeof type === 'string' ? type : UNKNOWN_ERROR.type,
    status: statusOfError(names),
  }
}

/** Providers choose the text, and it goes to the log. */
const SANE_TYPE = /^[\w.-]{1,64}$/

/** A stream that the provider, or the connection to it, broke off, or that ended too early. */
export function brokenStream(why: Abort | 'incomplete'): AnswerFailure {
  const cut = why === 'incomplete' ? undefined : why
  return { detail: `the provider's stream ended early: ${why}`, unhealthy: true, status: undefined, cut }
}

/** A response that ended although its JSON had not begun, or not ended. */
export function cutAnswer(how: 'empty' | 'incomplete'): AnswerFailure {
  return { detail: `the provider's response ended early: ${how}`, unhealthy: true, status: undefined, cut: undefined }
}

/** A response that is no answer. @param what of it is wrong, for log and decision record */
export function unusableAnswer(what: string): AnswerFailure {
  return { detail: `the provider's response is unusable: ${what}`, unhealthy: true, status: 502, cut: undefined }
}

/** Notes an error that a provider reports. The client may get its type masked. @returns the failure of the answer */
export function noteError({ type, status }: StreamError, facts: LlmFacts): AnswerFailure {
  const name = facts.isGuarded && !KNOWN_LLM_ERRORS.has(type) ? UNKNOWN_ERROR.type : type
  facts.errorType = name
  const detail = `the provider's response failed: ${name}`
  return { detail, unhealthy: !isFaultOfClient(status), status, cut: undefined }
}
