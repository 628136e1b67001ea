import { runAtOnce } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { ChatType } from '../dialects/index.ts'
import { formatRefusal, refuse } from '../dialects/refuse.ts'
import { decodeText } from '../json/native.ts'
import { encode } from '../json/splice.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import type { ClosedGuards, Guard, RegexGuard } from './guard.ts'
import { readErrorBody } from './read-answer-body.ts'
import { concludeRules } from './run-guards.ts'
import { maskTexts } from './texts/mask-texts.ts'

/** The texts of a larger error are not sent to the client, because this check is not divided into slices. */
const MAX_CHARACTERS = 64 * 1024

export interface GuardedRefusalOptions {
  readonly guards: readonly Guard[]
  readonly format: ChatType
  readonly exchange: Exchange
}

/** A guard of the policy cannot run, so nothing passes. */
export function refuseClosed(type: RouteType, { decidedBy, detail }: ClosedGuards): Refusal {
  return { ...refuse(type, 'prompt-guard-failed'), detail, decidedBy }
}

/** Only patterns check errors of a provider; services judge what a model wrote. */
export function isErrorGuard(guard: Guard): guard is RegexGuard {
  return guard.kind === 'regex'
}

/** Masks the refusal of an answer that cannot be translated, because it may quote the provider. */
export class GuardedRefusal {
  readonly #options: GuardedRefusalOptions
  #given: Refusal | undefined
  #guarded: Refusal | undefined

  constructor(options: GuardedRefusalOptions) {
    this.#options = options
  }

  /** The refusal as the client may get it. */
  of(given: Refusal | undefined): Refusal | undefined {
    if (given?.body === undefined) return given
    if (given !== this.#given) {
      this.#given = given
      this.#guarded = this.#guard(given, given.body)
    }
    return this.#guarded
  }

  #guard(refusal: Refusal, body: string): Refusal {
    const { guards, format, exchange } = this.#options
    const read = body.length > MAX_CHARACTERS ? undefined : runAtOnce(readErrorBody(encode(body)))
    if (typeof read !== 'object') {
      const { code, status } = refusal
      return formatRefusal(format, reject(code, { status, detail: 'the guards cannot read the error of the provider' }))
    }
    const { texts } = read
    for (const guard of guards.filter(isErrorGuard)) {
      const startMs = exchange.context.monotonic()
      const verdict = runAtOnce(maskTexts(guard.rules, texts))
      const rejected = concludeRules(guard, verdict, exchange, { startMs, length: runAtOnce(texts.measure()) })
      if (rejected !== undefined) return formatRefusal(format, rejected)
    }
    const bytes = runAtOnce(read.write())
    const masked = decodeText(bytes, 0, bytes.length)
    return masked === body ? refusal : { ...refusal, body: masked, detail: 'the provider reported an error' }
  }
}
