import type { Exchange } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { Guard, RegexGuard } from '../guards/guard.ts'
import { noteCheck } from '../guards/guard-log.ts'
import type { GuardedRun, GuardedTexts } from '../guards/guarded-texts.ts'
import { RegexStage } from '../guards/stream/regex-stage.ts'

/** What a match that begins in an item and goes on in the next one is recognised by, in UTF-16 units. */
const TAIL_LENGTH = 256
const HEAD_LENGTH = 1024

/** What the items of several events say together: a model reads neighbouring items of one role as one text. */
export class JoinedItems {
  readonly #guards: readonly RegexGuard[]
  /** Of the last item with text. */
  #role: GuardedRun['role'] | undefined
  #tail = ''

  constructor(guards: readonly Guard[]) {
    this.#guards = guards.filter((guard) => guard.kind === 'regex')
  }

  /**
   * An item that the guards have let pass by itself.
   * @returns the refusal of a guard that matches a text which began in the item before it
   */
  next({ runs }: GuardedTexts, exchange: Exchange): Refusal | undefined {
    for (const { role, texts } of runs) {
      const joined = texts.filter(({ joins }) => joins)
      if (joined.length === 0) continue
      const text = joined.map((each) => each.text).join('')
      const refusal = role === this.#role ? this.#check(text.slice(0, HEAD_LENGTH), exchange) : undefined
      if (refusal !== undefined) return refusal
      const before = role === this.#role ? this.#tail : ''
      this.#role = role
      this.#tail = (before + text.slice(-TAIL_LENGTH)).slice(-TAIL_LENGTH)
    }
    return undefined
  }

  /** The provider has added an item of its own. */
  answered(): void {
    this.#tail = ''
  }

  #check(text: string, exchange: Exchange): Refusal | undefined {
    for (const guard of this.#guards) {
      const startMs = exchange.context.monotonic()
      const refusal = matchAcross(guard, this.#tail, text)
      if (refusal === undefined) continue
      noteCheck(exchange, guard, startMs, { verdict: 'Reject', length: text.length })
      return refusal
    }
    return undefined
  }
}

function matchAcross(guard: RegexGuard, before: string, text: string): Refusal | undefined {
  let refusal: Refusal | undefined
  const refuse = (why: Refusal) => {
    refusal = why
  }
  const stage = new RegexStage<void>(
    { text() {}, finish() {} },
    { guard, isFixed: false, before, stream: { refuse, noted() {} } },
  )
  stage.text(undefined, text)
  if (text.length < HEAD_LENGTH) stage.finish()
  return refusal
}
