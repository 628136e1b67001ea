import { trimSpace } from '#base/byte-text.ts'
import type { Steps } from '#base/in-slices.ts'
import type { Head } from '#net/http/head.ts'
import { pathFault } from '#net/http/path-form.ts'
import type { ImpliedCloud } from '#policies/backend/auth/implied-auth.ts'
import type { WireDialect } from '../chat/dialect.ts'
import type { ClientFormat } from '../settings/route-type.ts'

/** One provider with its settings, built from the table in `providers.ts`. */
export interface Provider {
  /** Name in logs, metrics and `llm.provider`. */
  readonly system: string
  readonly host: string
  readonly port: number
  /** Model that replaces the model of every request. */
  readonly pin: string | undefined
  /** What the provider gets for a request of a client format with the given model. */
  readonly convert: (format: ClientFormat, model: string, streamed: boolean) => Conversion
  /** Path and query of the list of its models; unset: it has none of those that requests can name. */
  readonly modelsPath?: string
  /** Where sessions with a model are opened; unset: nowhere. */
  readonly realtime?: (model: string) => RealtimeEndpoint | undefined
  /** `max_tokens` of chat requests is moved to its new name for models that refuse the old name (decision B27). */
  readonly movesMaxTokens: boolean
  /** Where translated requests use the new name also for models with unknown names, such as those of deployments; unset: nowhere. */
  readonly newLimit?: 'at-own-host' | 'everywhere'
  /** The cloud that the provider belongs to. */
  readonly cloud?: ImpliedCloud
  /** What signatures of requests must be valid for; unset: the provider takes no signatures. */
  readonly signing?: { readonly service: string; readonly region: string }
  /** Headers that the provider requires besides the credential; runs after backend authentication. */
  readonly headers: (request: Head, credential: Credential | undefined, path: string) => HeaderEdits
}

/** Where sessions are opened. */
export interface RealtimeEndpoint {
  /** It may have a query. */
  readonly path: string
  /** The query parameter with the model. */
  readonly parameter: 'model' | 'deployment'
}

/** What becomes of a request. */
export type Conversion =
  /** In another dialect than that of the client, the request and its response are translated. */
  | Sending
  /** The gateway responds itself, with an estimate of the tokens of the request. */
  | { readonly kind: 'count' }
  /** There is no meaningful conversion (docs/behaviour/llm.md, "Formats"). */
  | { readonly kind: 'unsupported' }
  /** The model cannot be part of the path, but the provider requires it there. */
  | { readonly kind: 'model-unfit' }

export interface Sending {
  readonly kind: 'send'
  readonly dialect: WireDialect
  /** May have a query. */
  readonly path: string
  readonly edit?: EditBody
  readonly complete?: CompleteBody
  /** Beta features of the messages API that the provider knows; unset: it gets those that the client wants. */
  readonly betas?: ReadonlySet<string>
}

/** Adds what does not come from the body of the client to a body that was translated, before it is serialized. */
export type CompleteBody = (body: object, request: Head) => object

/** Changes that a provider requires to a body of its own dialect, which is well-formed. */
export type EditBody = (body: Uint8Array) => Steps<Uint8Array>

export const UNSUPPORTED: Conversion = { kind: 'unsupported' }
export const COUNT: Conversion = { kind: 'count' }
export const MODEL_UNFIT: Conversion = { kind: 'model-unfit' }

/** The credential that the auth policy of a provider has set, or the environment of the gateway; undefined without them. */
export interface Credential {
  /** `key`: `auth.key` or `auth.secretRef`; `token`: anything else (cloud tokens, passthrough). */
  readonly source: 'key' | 'token'
  /** A location that `auth.location` sets is final; a `usual` one is `Authorization`, from where a provider may move the credential. */
  readonly location: 'usual' | 'authorization' | 'elsewhere'
}

export interface HeaderEdits {
  readonly set: readonly (readonly [lowerName: string, value: string])[]
  readonly remove: readonly string[]
}

export const NO_EDITS: HeaderEdits = { set: [], remove: [] }

/**
 * A model name as one path segment; undefined for names that change the path (RFC 3986, 5.2.4), also if a server decodes the path before it
 * splits it (decision A-51).
 */
export function toSegment(model: string): string | undefined {
  if (model === '' || !model.isWellFormed()) return undefined
  const segment = encodeURIComponent(model)
  return pathFault(`/${segment}/`) === undefined ? segment : undefined
}

/** The token of `Authorization: Bearer <token>` (RFC 6750, 2.1). Undefined for a repeated header, because it is ambiguous. */
export function bearerToken(request: Head): string | undefined {
  const [value, another] = request.getAll('authorization')
  if (value === undefined || another !== undefined) return undefined
  return value.length >= 8 && value.slice(0, 7).toLowerCase() === 'bearer ' ? trimSpace(value.slice(7)) : undefined
}

/**
 * Those of `fields` that the client sent with keys of its own, which a provider could prefer to the credential of the gateway in
 * `Authorization`: clients of vendors always send one.
 */
export function competingKeys(
  request: Head,
  credential: Credential | undefined,
  fields: readonly string[],
): readonly string[] {
  if (credential === undefined || credential.location === 'elsewhere' || !request.has('authorization')) return []
  return fields.filter((name) => request.has(name))
}

/** Dialect and path of requests by client format. */
export type Endpoints = Partial<Record<ClientFormat, readonly [dialect: WireDialect, path: string]>>

/**
 * Conversions that do not depend on the model; `other` for all other formats. The one that most providers lack counts tokens, which the
 * gateway can do.
 */
export function fixedEndpoints(endpoints: Endpoints, other = COUNT): (format: ClientFormat) => Conversion {
  const table = new Map<ClientFormat, Conversion>()
  for (const format of Object.keys(endpoints) as ClientFormat[]) table.set(format, sendTo(endpoints, format, other))
  return (format) => table.get(format) ?? other
}

function sendTo(endpoints: Endpoints, format: ClientFormat, other = COUNT): Conversion {
  const endpoint = endpoints[format]
  return endpoint === undefined ? other : { kind: 'send', dialect: endpoint[0], path: endpoint[1] }
}

/** Endpoints of a provider that has chat completions but no messages. */
export function chatEndpoints(base: string, query = ''): Endpoints {
  const chat = `${base}/chat/completions${query}`
  return {
    Completions: ['completions', chat],
    Messages: ['completions', chat],
    Responses: ['responses', `${base}/responses${query}`],
    Embeddings: ['embeddings', `${base}/embeddings${query}`],
  }
}

/** Endpoints of a provider that has only messages. */
export function messagesEndpoints(base: string): Endpoints {
  const messages = `${base}/messages`
  return {
    Completions: ['messages', messages],
    Messages: ['messages', messages],
    Responses: ['messages', messages],
    MessagesTokenCount: ['count', `${messages}/count_tokens`],
  }
}
