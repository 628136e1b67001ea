import { COMPLETIONS } from '../completions/dialect.ts'
import { CONVERSE } from '../converse/dialect.ts'
import { COHERE, NOVA, TITAN } from '../embeddings/invoke.ts'
import { PREDICT } from '../embeddings/predict.ts'
import { COUNT_BY_INVOKING } from '../messages/count-by-invoking.ts'
import { MESSAGES } from '../messages/dialect.ts'
import type { ClientFormat } from '../request/route-type.ts'
import { RESPONSES } from '../responses/dialect.ts'
import type { BodyDialect } from './body-dialect.ts'
import type { ClientDialect, ProviderDialect, WireDialect } from './dialect.ts'

/** The dialects that clients speak. */
export const CLIENT_DIALECTS: { readonly [Name in WireDialect]?: ClientDialect } = {
  completions: COMPLETIONS,
  messages: MESSAGES,
  responses: RESPONSES,
}

/** The dialects that providers speak. */
export const PROVIDER_DIALECTS: { readonly [Name in WireDialect]?: ProviderDialect } = {
  completions: COMPLETIONS,
  messages: MESSAGES,
  converse: CONVERSE,
}

/** The dialect of a client format. A provider that wants it gets the client's own bytes. */
export const NATIVE_DIALECTS: Readonly<Record<ClientFormat, WireDialect>> = {
  Completions: 'completions',
  Messages: 'messages',
  Responses: 'responses',
  Embeddings: 'embeddings',
  MessagesTokenCount: 'count',
}

/** The dialects of what is no chat, besides those that clients speak. */
const BODY_DIALECTS: { readonly [Name in WireDialect]?: BodyDialect } = {
  predict: PREDICT,
  titan: TITAN,
  cohere: COHERE,
  nova: NOVA,
  'count-by-invoking': COUNT_BY_INVOKING,
}

/** How requests and answers are translated: those of chats through the neutral form, all others directly. */
export type Translation = ChatPair | { readonly kind: 'body'; readonly dialect: BodyDialect }

export interface ChatPair {
  readonly kind: 'chat'
  readonly client: ClientDialect
  readonly provider: ProviderDialect
  /** The name of `provider`. */
  readonly dialect: WireDialect
}

/** @returns undefined if there is none */
export function findTranslation(format: ClientFormat, dialect: WireDialect): Translation | undefined {
  const body = BODY_DIALECTS[dialect]
  if (body !== undefined) return { kind: 'body', dialect: body }
  const client = CLIENT_DIALECTS[NATIVE_DIALECTS[format]]
  const provider = PROVIDER_DIALECTS[dialect]
  return client && provider && { kind: 'chat', client, provider, dialect }
}
