import type { BodyDialect } from '../chat/body-dialect.ts'
import type { ClientDialect, ProviderDialect, WireDialect } from '../chat/dialect.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import { COMPLETIONS, COMPLETIONS_PROVIDER } from './completions/index.ts'
import { CONVERSE_PROVIDER } from './converse/index.ts'
import { EMBEDDINGS } from './embeddings/index.ts'
import { COHERE, NOVA, TITAN } from './embeddings/invoke.ts'
import { PREDICT } from './embeddings/predict.ts'
import type { ChatFormat, Format } from './format.ts'
import { COUNT_BY_INVOKING } from './messages/count-by-invoking.ts'
import { MESSAGES, MESSAGES_PROVIDER, TOKEN_COUNT } from './messages/index.ts'
import { RESPONSES } from './responses/index.ts'

/** Formats whose answers have texts. */
export type ChatType = 'Completions' | 'Messages' | 'Responses'

/** What clients send. */
export const FORMATS: Readonly<Record<ChatType, ChatFormat> & Record<ClientFormat, Format>> = {
  Completions: COMPLETIONS,
  Messages: MESSAGES,
  Responses: RESPONSES,
  Embeddings: EMBEDDINGS,
  MessagesTokenCount: TOKEN_COUNT,
}

/** @returns undefined: the gateway does not read bodies of this type */
export function formatOf(type: RouteType): Format | undefined {
  return Object.hasOwn(FORMATS, type) ? FORMATS[type as ClientFormat] : undefined
}

export function isChatType(type: RouteType): type is ChatType {
  return formatOf(type)?.answerTexts !== undefined
}

/** What providers of chats speak. */
export const PROVIDER_DIALECTS: { readonly [Name in WireDialect]?: ProviderDialect } = {
  completions: COMPLETIONS_PROVIDER,
  messages: MESSAGES_PROVIDER,
  converse: CONVERSE_PROVIDER,
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
  const { client } = FORMATS[format]
  const provider = PROVIDER_DIALECTS[dialect]
  return client && provider && { kind: 'chat', client, provider, dialect }
}
