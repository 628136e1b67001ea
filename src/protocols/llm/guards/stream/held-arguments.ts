import type { Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { decodeText } from '../../json/native.ts'
import { encode } from '../../json/splice.ts'
import { forgetVerdicts } from '../ask-service.ts'
import type { Guard } from '../guard.ts'
import { guardBody, type ReadBody } from '../guard-body.ts'
import type { RefuseStream, TextOutput, TextStage } from '../stages/text-stage.ts'
import { GuardedTexts } from '../texts/guarded-texts.ts'

export interface HeldArgumentsOptions {
  readonly guards: readonly Guard[]
  readonly exchange: Exchange
  readonly refuse: RefuseStream
  /** Aborted when the stream is over. */
  readonly signal: AbortSignal
  /** Called when text was released after `finish` had returned. */
  readonly progressed: () => void
}

/**
 * Holds the arguments of a call until they are complete, and then checks them like those of a whole answer. Changed arguments are sent in the
 * first delta that is not empty.
 */
export class HeldArguments<Tag> implements TextStage<Tag> {
  readonly #out: TextOutput<Tag>
  readonly #options: HeldArgumentsOptions
  readonly #held: { readonly tag: Tag; readonly text: string }[] = []
  #isAsking = false

  constructor(out: TextOutput<Tag>, options: HeldArgumentsOptions) {
    this.#out = out
    this.#options = options
  }

  /** A service judges the arguments, or patterns search them in slices. */
  get isAsking(): boolean {
    return this.#isAsking
  }

  text(tag: Tag, text: string): void {
    this.#held.push({ tag, text })
  }

  finish(): void {
    const { guards, exchange, signal, progressed } = this.#options
    const body = encode(JSON.stringify(this.#held.map(({ text }) => text).join('')))
    // Each call has its own time for services.
    forgetVerdicts(exchange)
    const outcome = guardBody({ guards, exchange, head: exchange.response!, read: readArguments(body) })
    if (!(outcome instanceof Promise)) return this.#conclude(outcome, body)
    this.#isAsking = true
    void outcome.then((late) => {
      this.#isAsking = false
      if (signal.aborted) return
      this.#conclude(late, body)
      progressed()
    })
  }

  #conclude(outcome: Uint8Array | Refusal, body: Uint8Array): void {
    if ('kind' in outcome) return this.#options.refuse(outcome)
    if (outcome === body) for (const { tag, text } of this.#held) this.#out.text(tag, text)
    else {
      let rest = parseJson(decodeText(outcome, 0, outcome.length)) as string
      for (const { tag, text } of this.#held) {
        this.#out.text(tag, text === '' ? '' : rest)
        if (text !== '') rest = ''
      }
    }
    this.#out.finish()
  }
}

/** @param body the arguments as a JSON string */
function* readArguments(body: Uint8Array): Steps<ReadBody | Refusal> {
  const place = { start: 0, end: body.length, path: 'arguments', form: 'arguments', canChange: true } as const
  const texts = yield* GuardedTexts.read(body, { runs: [{ role: 'assistant', joins: false, places: [place] }] })
  if (!('unreadable' in texts)) return { texts, write: () => texts.apply() }
  return reject('llm-response-invalid', { detail: `the response guards cannot read the response: ${texts.unreadable}` })
}
