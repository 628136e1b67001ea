import type { Steps } from '#base/in-slices.ts'
import type { LlmTranslation } from '#exchange/llm-facts.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { Head } from '#net/http/head.ts'
import { JsonValue, parseInSteps } from '../json/json-document.ts'
import { isLongBody } from '../json/run-for-body.ts'
import { writeInSteps, writeJson } from '../json/write-json.ts'
import type { Sending } from '../providers/provider.ts'
import { refuse, refuseFault } from '../request/refuse.ts'
import type { ClientFormat } from '../request/route-type.ts'
import type { TranslatedBody } from './body-dialect.ts'
import type { ClientDialect, ProviderDialect, WireDialect } from './dialect.ts'
import { type ChatPair, findTranslation, NATIVE_DIALECTS } from './dialects.ts'
import { Loops } from './loops.ts'
import { Losses } from './losses.ts'
import { keepOwnThoughts } from './own-thoughts.ts'
import type { PromptCaching } from './prompt-caching.ts'
import { TargetNames } from './target-names.ts'
import { Untranslatable } from './untranslatable.ts'

/** A request in the dialect of its provider. */
export interface TranslatedRequest {
  readonly body: Uint8Array
  readonly facts: LlmTranslation
  readonly answer: AnswerTranslation
}

/** How the response to it becomes one in the dialect of the client. */
export type AnswerTranslation = ChatTranslation | BodyTranslation

export interface ChatTranslation {
  readonly kind: 'chat'
  readonly type: ClientFormat
  readonly from: ProviderDialect
  /** The name of `from`. */
  readonly provider: WireDialect
  readonly to: ClientDialect
  /** The client asked for a stream. */
  readonly streamed: boolean
  /** The body of the client. */
  readonly request: JsonValue
  readonly model: string
  readonly names: TargetNames
}

/** Of a request that is no chat: the answer is never a stream. */
export interface BodyTranslation {
  readonly kind: 'body'
  readonly type: ClientFormat
  readonly answer: TranslatedBody['answer']
}

/**
 * Translates a request. Everything that depends on the request alone has been applied to `body`, so that settings are in the dialect of the
 * client (decision B18).
 */
export function* translateInSteps(
  type: ClientFormat,
  { dialect, complete }: Sending,
  body: Uint8Array,
  head: Head,
  caching: PromptCaching | undefined,
): Steps<TranslatedRequest | Refusal> {
  const translation = findTranslation(type, dialect)!
  const request = yield* parseInSteps(body)
  if (!(request instanceof JsonValue)) return refuseFault(type, request)
  const losses = new Losses()
  try {
    const { written, answer } =
      translation.kind === 'chat'
        ? yield* translateChat(type, translation, request, losses, caching)
        : translateBody(type, translation.dialect.translate(request, head, losses))
    const sent = complete === undefined ? written : complete(written, head)
    return {
      body: isLongBody(body) ? yield* writeInSteps(sent) : writeJson(sent),
      facts: { from: NATIVE_DIALECTS[type], to: dialect, dropped: losses.paths },
      answer,
    }
  } catch (error) {
    if (error instanceof Untranslatable) return refuse(type, error.code, error.message)
    throw error
  }
}

interface Translated {
  readonly written: object
  readonly answer: AnswerTranslation
}

function* translateChat(
  type: ClientFormat,
  { client: to, provider: from, dialect: provider }: ChatPair,
  request: JsonValue,
  losses: Losses,
  caching: PromptCaching | undefined,
): Steps<Translated> {
  const loops = new Loops()
  const conversation = keepOwnThoughts(yield* to.readRequest(request, losses), provider, loops, losses)
  if (loops.areWaiting) yield* loops.rest()
  const { model, streamed, tools } = conversation
  const names = new TargetNames(tools.map(({ name }) => name))
  const written = yield* from.writeRequest(conversation, { names, caching }, losses)
  return { written, answer: { kind: 'chat', type, from, provider, to, streamed, request, model, names } }
}

function translateBody(type: ClientFormat, { body, answer }: TranslatedBody): Translated {
  return { written: body, answer: { kind: 'body', type, answer } }
}
