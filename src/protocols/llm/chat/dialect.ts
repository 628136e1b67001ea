import type { Steps } from '#base/in-slices.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { JsonValue } from '../json/json-document.ts'
import type { AnswerRoom } from './answer-room.ts'
import type { AnswerSink } from './answer-sink.ts'
import type { Conversation } from './conversation.ts'
import type { Losses } from './losses.ts'
import type { PromptCaching } from './prompt-caching.ts'
import type { TargetNames } from './target-names.ts'

/** The dialects of chats. A dialect is not a route type: a provider may want another one than its client speaks. */
export type Dialect = 'completions' | 'messages' | 'responses' | 'converse'

/** The dialects of what is no chat: texts to embed, a chat whose tokens are to be counted. */
export type OtherDialect = 'embeddings' | 'predict' | 'titan' | 'cohere' | 'nova' | 'count' | 'count-by-invoking'

/** The dialect of what is sent to a provider. */
export type WireDialect = Dialect | OtherDialect

/**
 * A dialect that clients speak. A folder with a dialect's name has a file for each function: `read-request.ts`, `write-answer.ts`,
 * `write-stream.ts`.
 */
export interface ClientDialect {
  /** Yields between parts. Records members that it cannot read as losses. Throws `Untranslatable`. */
  readRequest(body: JsonValue, losses: Losses): Steps<Conversation>
  /** Calls `done` once, at the `end` of the answer. After `fail` it gets the body of an error. */
  writeAnswer(context: AnswerContext, done: (body: Uint8Array) => void): AnswerSink
  /** Writes events. Each call of the sink writes what it makes known at once; nothing is written after `end`. */
  writeStream(context: AnswerContext, write: (events: string) => void): AnswerSink
  /** The end of a stream repeats all of it, so that its writer must keep it. */
  readonly keepsStream: boolean
}

/** A dialect that providers speak: `write-request.ts`, `read-answer.ts`, `read-stream.ts`. */
export interface ProviderDialect {
  /** The body as a value for `writeJson`. Throws `Untranslatable` for what cannot be left out; what else it cannot write is a loss. Yields between parts. */
  writeRequest(conversation: Conversation, target: Target, losses: Losses): Steps<object>
  /** Makes all calls for a whole answer, `end` included. Throws `Untranslatable`. Yields between blocks. */
  readAnswer(body: JsonValue, sink: AnswerSink): Steps<void>
  readStream(sink: AnswerSink, limits: StreamLimits): StreamReader
  /** Ids of calls in a history may have all characters. */
  readonly takesAnyCallId?: boolean
  /** Name of the response header that identifies an answer whose body has no id. */
  readonly idHeader?: string
}

/**
 * A pushed parser of a stream. It makes each call in the `push` that brings the bytes for it, and never throws for what a provider sends: a
 * frame or an event that cannot be read is a `fail`. It calls `end` only at the provider's end mark: see `AnswerEnd`.
 */
export interface StreamReader {
  push(piece: Uint8Array): void
  /** The stream of the provider ended; the last event may lack its empty line. */
  finish(): void
  /** The same in steps, for an answer that takes long; undefined: it does not. */
  finishInSteps?(): Steps<void> | undefined
}

/** The work of reading a block of an answer and writing it, in the units of `Pace`. */
export const WORK_PER_BLOCK = 256

export interface StreamLimits {
  /** Of one event or frame. */
  readonly maxEventBytes: number
  /** Memory for one that is not complete. */
  readonly claim: BodyClaim
}

/** What the writer of a request needs to know of its target. */
export interface Target {
  /** The names and ids of tools as the target accepts them. */
  readonly names: TargetNames
  /** Cache points that the gateway adds. */
  readonly caching?: PromptCaching | undefined
  /** Models with unknown names take the limit of tokens by its new name. */
  readonly newLimit?: boolean
  /** The body of the client, for estimates of its tokens. */
  readonly body: Uint8Array
}

/** What the writer of an answer needs to know of the request. */
export interface AnswerContext {
  /** The body of the client, for fields that answers repeat. */
  readonly request: JsonValue
  /** The dialect of the provider. */
  readonly provider: WireDialect
  /** The final model name of the request, for providers that do not send one. */
  readonly model: string
  /** Unix time in seconds. */
  readonly createdSeconds: number
  /** Memory for what the writer holds back; undefined: not limited here. */
  readonly room?: AnswerRoom | undefined
  /** A new identifier: the prefix and 24 letters and digits. */
  newId(prefix: string): string
}
