import { runAtOnce } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { decodeText } from '../json/native.ts'
import { encode } from '../json/splice.ts'
import { formatRefusal } from '../request/refuse.ts'
import type { Guard, RegexGuard } from './guard.ts'
import type { GuardedFormat } from './guarded-format.ts'
import { readErrorBody } from './read-answer-body.ts'
import { concludeRules } from './run-guards.ts'
import { maskTexts } from './texts/mask-texts.ts'

/** Of a larger error, the client gets nothing: it is checked at a stretch. */
const MAX_CHARACTERS = 64 * 1024

export interface GuardedRefusalOptions {
  readonly guards: readonly Guard[]
  readonly format: GuardedFormat
  readonly exchange: Exchange
}

/** Services judge what a model wrote; what a provider says about a request, only patterns check. */
export function isErrorGuard(guard: Guard): guard is RegexGuard {
  return guard.kind === 'regex'
}

/** The refusal of an answer that cannot be translated, which may have the words of the provider. */
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
