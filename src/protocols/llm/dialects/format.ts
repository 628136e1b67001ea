import type { Steps } from '#base/in-slices.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { AnswerError } from '../chat/answer-sink.ts'
import type { ClientDialect, WireDialect } from '../chat/dialect.ts'
import type { AnswerFormat } from '../facts/answer-format.ts'
import type { StreamFormat } from '../facts/stream-format.ts'
import type { BodyEdits } from '../json/edit-members.ts'
import type { JsonValue } from '../json/json-document.ts'
import type { Members } from '../json/scan-members.ts'
import type { PromptEnrichment } from '../settings/prompt-enrichment.ts'
import type { BodyTexts, EventTexts, ExemptPlace } from '../texts/body-texts.ts'
import type { StreamNumbers } from '../texts/call-numbers.ts'

/** A format of requests that clients send (a route type with a body): all that the gateway knows of it. */
export interface Format {
  /** Name of the operation in logs and metrics (decision B98); undefined: the request generates nothing. */
  readonly operation?: LlmFacts['operation']
  /** A provider that wants this dialect gets the client's own bytes. */
  readonly dialect: WireDialect
  /** Translates requests and answers of chats. */
  readonly client?: ClientDialect
  readonly vendor: VendorFields
  /** Members with text for the model, in the order in which the model reads them. */
  readonly promptMembers: readonly PromptMember[]
  readonly readRequestTexts: ReadTexts
  /** Adds the configured messages. @returns false if the request has no place for them */
  readonly enrich?: (members: Members, prompt: PromptEnrichment, edits: BodyEdits) => boolean
  /**
   * Changes a request for a provider that gets the client's own bytes.
   * @returns whether only the gateway requested the usage chunk of the stream
   */
  readonly adapt?: (members: Members, needs: NativeNeeds, edits: BodyEdits) => boolean
  /** The list whose elements, or whose messages' parts, may be thoughts of other providers. */
  readonly thoughtsIn?: 'input' | 'messages'
  formatError(error: AnswerError): string
  readonly answer: AnswerFormat
  readonly answerTexts?: AnswerTexts
  readonly stream?: () => StreamFormat
}

/** A format whose answers have texts, so that guards check them (decision B41), and may be streams. */
export type ChatFormat = Format & Required<Pick<Format, 'client' | 'enrich' | 'answerTexts' | 'stream'>>

export type PromptMember = 'system' | 'messages' | 'instructions' | 'input'

/** Finds the texts of a body. @param exempt receives what no guard checks */
export type ReadTexts = (body: JsonValue, exempt?: ExemptPlace[]) => Steps<BodyTexts>

/** How the texts of answers are found: of whole ones, and of the events of streams. */
export interface AnswerTexts {
  /** The list in every answer of the API: without it, and without an error, the body is something else. */
  readonly list: 'choices' | 'content' | 'output'
  readonly whole: ReadTexts
  readonly event: (event: JsonValue, exempt?: ExemptPlace[], numbers?: StreamNumbers) => Steps<EventTexts>
}

export interface NativeNeeds {
  /** The final name. */
  readonly model: string
  readonly streaming: boolean
  /** A limit or an expression reads token counts. */
  readonly countsTokens: boolean
  /** The provider knows the new name of the limit of tokens, and which models require it. */
  readonly movesMaxTokens: boolean
}

/** Fields that a vendor's clients send for their own vendor: versions and features of its API, its accounts and keys, telemetry. */
export interface VendorFields {
  readonly prefixes: readonly string[]
  readonly names: readonly string[]
  /** With a credential. They stay if an auth policy of the provider writes to a location of its own. */
  readonly keys: readonly string[]
}

/** Clients of both vendors tell about themselves in these. */
export const TELEMETRY = 'x-stainless-'
