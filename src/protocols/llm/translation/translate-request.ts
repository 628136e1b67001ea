import type { Steps } from '#base/in-slices.ts'
import type { LlmTranslation } from '#exchange/llm-facts.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { Head } from '#net/http/head.ts'
import type { TranslatedBody } from '../chat/body-dialect.ts'
import { keepLastMarks } from '../chat/cache-marks.ts'
import type { ClientDialect, ProviderDialect, Target, WireDialect } from '../chat/dialect.ts'
import { Loops } from '../chat/loops.ts'
import { Losses } from '../chat/losses.ts'
import { keepOwnThoughts } from '../chat/own-thoughts.ts'
import { TargetNames } from '../chat/target-names.ts'
import { Untranslatable } from '../chat/untranslatable.ts'
import { type ChatPair, FORMATS, findTranslation } from '../dialects/index.ts'
import { refuse, refuseFault } from '../dialects/refuse.ts'
import { JsonValue, parseInSteps } from '../json/json-document.ts'
import { isLongBody } from '../json/run-for-body.ts'
import { writeInSteps, writeJson } from '../json/write-json.ts'
import type { Sending } from '../providers/provider.ts'
import type { ClientFormat } from '../settings/route-type.ts'

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
  target: Pick<Target, 'caching' | 'newLimit'> | undefined,
): Steps<TranslatedRequest | Refusal> {
  const translation = findTranslation(type, dialect)!
  const request = yield* parseInSteps(body)
  if (!(request instanceof JsonValue)) return refuseFault(type, request)
  const losses = new Losses()
  try {
    const { written, answer } =
      translation.kind === 'chat'
        ? yield* translateChat(type, translation, request, losses, target)
        : translateBody(type, translation.dialect.translate(request, head, losses))
    const sent = complete === undefined ? written : complete(written, head)
    return {
      body: isLongBody(body) ? yield* writeInSteps(sent) : writeJson(sent),
      facts: { from: FORMATS[type].dialect, to: dialect, dropped: losses.paths },
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
  target: Pick<Target, 'caching' | 'newLimit'> | undefined,
): Steps<Translated> {
  const loops = new Loops()
  const read = keepOwnThoughts(yield* to.readRequest(request, losses), provider, loops, losses)
  if (loops.areWaiting) yield* loops.rest()
  const conversation = keepLastMarks(read, losses)
  const { model, streamed, tools } = conversation
  const names = new TargetNames(
    tools.map(({ name }) => name),
    from.takesAnyCallId,
  )
  const written = yield* from.writeRequest(conversation, { ...target, names, body: request.json }, losses)
  return { written, answer: { kind: 'chat', type, from, provider, to, streamed, request, model, names } }
}

function translateBody(type: ClientFormat, { body, answer }: TranslatedBody): Translated {
  return { written: body, answer: { kind: 'body', type, answer } }
}
