import type { JsonValue } from '../json/json-document.ts'
import type { JsonText } from '../json/write-json.ts'
import type { Effort } from '../models/models.ts'

/**
 * A request for a chat, in no dialect: readers make it from the body of a client, writers make the body for a provider from it. Texts,
 * schemas, inputs and data are slices of the client's bytes, so that they arrive as they were sent; names, ids and what decides are decoded.
 */
export interface Conversation {
  /** The final name, after pin and aliases. */
  readonly model: string
  readonly streamed: boolean
  /** In the order of the client. System texts are turns as well; a writer moves them to where its dialect has them. */
  readonly turns: readonly Turn[]
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice | undefined
  readonly parallelCalls: ParallelCalls | undefined
  /** Most tokens of the answer. */
  readonly maxTokens: number | undefined
  readonly sampling: Sampling
  /** Strings. */
  readonly stop: readonly JsonValue[]
  readonly format: OutputFormat | undefined
  readonly reasoning: ReasoningWish | undefined
  /** A string that identifies the end user. */
  readonly user: JsonValue | undefined
  readonly serviceTier: ServiceTier | undefined
}

/** Whether the model may call several tools at once. */
export interface ParallelCalls {
  readonly allowed: boolean
  readonly origin: JsonValue
}

export interface ServiceTier {
  /** As the completions API names it: `auto`, `default`, `flex`, `priority`. */
  readonly name: string
  readonly origin: JsonValue
}

/** Numbers. */
export interface Sampling {
  readonly temperature?: Sampled | undefined
  readonly topP?: Sampled | undefined
  readonly topK?: Sampled | undefined
  readonly frequencyPenalty?: Sampled | undefined
  readonly presencePenalty?: Sampled | undefined
  readonly seed?: Sampled | undefined
}

/** A value of the client's body, for writers that must drop it: it knows its path. */
export type Sampled = JsonValue

export interface Turn {
  readonly role: 'system' | 'user' | 'assistant'
  readonly parts: readonly Part[]
  readonly origin: JsonValue
}

interface Origin {
  /** The value in the client's body, for the path in refusals and losses. */
  readonly origin: JsonValue
  /** The prompt up to here is worth caching: the client marked it. */
  readonly cached?: boolean | undefined
}

export type Part = TextPart | ImagePart | FilePart | AudioPart | CallPart | ResultPart | ThinkingPart | RedactedPart

export interface TextPart extends Origin {
  readonly kind: 'text'
  /** A string. */
  readonly text: JsonText
  /** What the model said instead of an answer. */
  readonly isRefusal?: boolean | undefined
}

export interface ImagePart extends Origin {
  readonly kind: 'image'
  readonly source: MediaSource
  /** How closely the model looks: `low`, `high`, `auto`. */
  readonly detail?: string | undefined
}

export interface FilePart extends Origin {
  readonly kind: 'file'
  readonly source: MediaSource
  /** The name or title, decoded. */
  readonly name?: string | undefined
}

export interface AudioPart extends Origin {
  readonly kind: 'audio'
  /** Base64, without quotes. */
  readonly data: Uint8Array
  /** `wav`, `mp3`. */
  readonly format: string
}

export type MediaSource =
  /** Base64, without quotes, and its media type (`image/png`). */
  | { readonly kind: 'data'; readonly mediaType: string; readonly data: Uint8Array }
  /** A plain text document; a string. */
  | { readonly kind: 'text'; readonly text: JsonText }
  /** A string. */
  | { readonly kind: 'url'; readonly url: JsonText }
  /** Uploaded to the provider before; a string. */
  | { readonly kind: 'id'; readonly id: JsonText }

export interface CallPart extends Origin {
  readonly kind: 'call'
  readonly id: string
  readonly name: string
  /** The arguments as JSON text: an object, unless the model wrote something else. */
  readonly input: JsonText
}

export interface ResultPart extends Origin {
  readonly kind: 'result'
  readonly callId: string
  /** Texts, images and files. */
  readonly parts: readonly Part[]
  readonly isError: boolean
}

interface Thought extends Origin {
  /** The dialect of the providers that understand its signature or data; undefined: the client does not say. */
  readonly provider?: string | undefined
}

export interface ThinkingPart extends Thought {
  readonly kind: 'thinking'
  /** A string; the summary if the provider shows no more. */
  readonly text: JsonText
  /** A string by which the provider recognizes the thought. */
  readonly signature: JsonText | undefined
}

/** A thought that only the provider can read. */
export interface RedactedPart extends Thought {
  readonly kind: 'redacted'
  /** A string. */
  readonly data: JsonText
}

export interface Tool {
  readonly name: string
  /** A string. */
  readonly description: JsonText | undefined
  /** A JSON Schema; undefined: no parameters. */
  readonly parameters: JsonText | undefined
  readonly strict: boolean | undefined
  /** The tool takes one text instead of an object; its calls have the input `{"input": text}`. */
  readonly takesText: boolean
  /** The provider searches the web; the tool has no parameters. */
  readonly search?: WebSearch | undefined
  readonly cached?: boolean | undefined
  readonly origin: JsonValue
}

/** A search of the web that the provider runs itself. */
export interface WebSearch {
  readonly allowedDomains?: JsonValue | undefined
  readonly blockedDomains?: JsonValue | undefined
  /** Most searches of one answer. */
  readonly maxUses?: JsonValue | undefined
  /** How much of the results the model reads: `low`, `medium`, `high`. */
  readonly contextSize?: JsonValue | undefined
  readonly location?: SearchLocation | undefined
}

/** Where the user is. All vendors have the same names. */
export type SearchLocation = { readonly [Name in 'city' | 'country' | 'region' | 'timezone']?: string }

export type ToolChoice = { readonly origin: JsonValue } & (
  | /** The model decides; it must call some tool; it must not. */
  { readonly kind: 'auto' | 'any' | 'none' }
  | { readonly kind: 'tool'; readonly name: string }
)

export type OutputFormat =
  /** Any JSON object. */
  { readonly kind: 'json' } | SchemaFormat

export interface SchemaFormat {
  readonly kind: 'schema'
  readonly schema: JsonText
  readonly name: string | undefined
  readonly description: JsonText | undefined
  /** The model must keep to the schema, if the target can make it. */
  readonly strict: boolean | undefined
  readonly origin: JsonValue
}

/** How much the model thinks before it answers. */
export interface ReasoningWish {
  readonly effort?: Effort | undefined
  /** In tokens. */
  readonly budget?: number | undefined
  /** The model decides how much. False: the effort does not turn thinking on. */
  readonly adaptive?: boolean | undefined
  /** The client wants to see a summary of the thoughts. */
  readonly summary?: boolean | undefined
  readonly origin: JsonValue
}
