import type { LlmTokens } from '#exchange/llm-facts.ts'

/**
 * Receives the answer of a model, in no dialect. A reader makes the calls from an answer or a stream of a provider as its bytes arrive, a
 * writer makes an answer or a stream for the client from them; what watches an answer stands between them.
 *
 * Order: `start`; then blocks, each with its contents and `close`; `finish`; `usage` at any time after `start`; `end`. A stream that goes wrong
 * has `fail` instead of `finish`; then `end`. Blocks have numbers of the reader's choice, and `AnswerEnd` gives each its own; they can be open at the same time.
 */
export interface AnswerSink {
  /** `id` and `model` are empty if the provider does not send them. */
  start(id: string, model: string): void
  text(block: number, text: string): void
  /** The model says why it does not answer. */
  refusal(block: number, text: string): void
  thinking(block: number, text: string): void
  /** Belongs to the thinking of the same block; once, or in pieces. */
  signature(block: number, text: string): void
  /** A thought that only the provider can read, as a whole. */
  redacted(block: number, data: string): void
  call(block: number, id: string, name: string): void
  /** A piece of the JSON text of the arguments of a call. */
  arguments(block: number, text: string): void
  /** Belongs to the text of the same block. */
  citation(block: number, citation: Citation): void
  close(block: number): void
  finish(reason: StopReason, stopSequence?: string): void
  /** Known counts; a later call replaces an earlier one. */
  usage(usage: AnswerUsage): void
  fail(error: AnswerError): void
  end(): void
}

export interface AnswerUsage extends LlmTokens {
  readonly serviceTier: string | undefined
}

/** Why a model stopped. Each dialect maps it in `stop-reasons.ts`. */
export type StopReason =
  | 'end'
  | 'stop-sequence'
  /** The answer reached the most tokens that were asked for. */
  | 'length'
  /** The answer reached the end of the model's context. */
  | 'context'
  | 'calls'
  /** The provider, or a filter of it, refused. */
  | 'refusal'
  /** The provider wants the turn back to go on with it. */
  | 'pause'

/** Where a text comes from. Fields that the provider does not send are undefined. */
export interface Citation {
  readonly url: string | undefined
  readonly title: string | undefined
  /** What is quoted. */
  readonly text: string | undefined
  /** Positions in the text of the block, in UTF-16 units, if the provider counts them. */
  readonly start: number | undefined
  readonly end: number | undefined
}

/** All that a citation keeps in memory. */
export function textOf({ text = '', title = '', url = '' }: Citation): string {
  return text + title + url
}

/** An error of a provider. */
export interface AnswerError {
  /** The status of the response, or that which the vendor documents for the type. */
  readonly status: number
  /** The vendor's name of the error, if known. */
  readonly type: string | undefined
  readonly message: string
  readonly code: string | undefined
  readonly param: string | undefined
}

/** The code of the refusal that an unreadable answer becomes before its first content. */
const UNREADABLE = 'llm-response-invalid'

/** The error of an answer that cannot be read. */
export function unreadableAnswer(message: string): AnswerError {
  return { status: 502, type: undefined, message, code: UNREADABLE, param: undefined }
}

/** Whether the error is an `unreadableAnswer`. Another gateway that is the provider reports the same code, with a type. */
export function isUnreadable({ type, code }: AnswerError): boolean {
  return type === undefined && code === UNREADABLE
}
