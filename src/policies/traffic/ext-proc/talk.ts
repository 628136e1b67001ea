import type { Exchange } from '#exchange/exchange.ts'
import type { Outcome } from '#exchange/outcome.ts'
import type { ProcessingRequest, ProcessingResponse } from './messages.ts'
import type { Modes } from './modes.ts'

/** The processing of one message, for the decision record. */
export interface Processed {
  /** When it began; monotonic. */
  readonly startMs: number
  /** The processor got something of the message. */
  readonly isAsked: boolean
}

/** The conversation with the processor, as the half for one message uses it. */
export interface Talk {
  readonly exchange: Exchange
  readonly modes: Modes
  /** The processor has ended the conversation normally: the rest is not processed. */
  readonly isOver: boolean
  /** The refusal if it has failed. */
  readonly failure: Outcome
  /** The processor does not read as fast as messages are sent. */
  readonly backed: boolean
  send(part: ProcessingRequest): void
  /** Applies what an answer to headers says beyond them. @returns why it is invalid */
  headersAnswered(message: keyof Modes, answer: ProcessingResponse): string | undefined
  /** The answer is not one of the protocol. */
  fail(why: string): void
  /** What is awaited, or what can be sent, has changed. */
  changed(): void
  /** The step for this message has its decision. */
  settled(about: Processed, outcome: Outcome): void
  /** Nothing more of this message is sent. */
  finished(): void
  /** The conversation is useless, although the processor is not the cause. */
  abandon(): void
}
