import type { Exchange } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { Guard, RegexGuard } from '../guards/guard.ts'
import { noteCheck } from '../guards/guard-log.ts'
import { RegexStage } from '../guards/stream/regex-stage.ts'

/** What a match that begins in an item and goes on in the next one is recognised by, in UTF-16 units. */
export const EDGE_LENGTH = 256
/** So much of a new text is searched for the rest of a match. */
const HEAD_LENGTH = 1024

/** Whether patterns match a text that begins in one item and goes on in another. */
export class JoinCheck {
  readonly #guards: readonly RegexGuard[]
  readonly #exchange: Exchange

  constructor(guards: readonly Guard[], exchange: Exchange) {
    this.#guards = guards.filter((guard) => guard.kind === 'regex')
    this.#exchange = exchange
  }

  /** There are patterns. */
  get isNeeded(): boolean {
    return this.#guards.length > 0
  }

  /** @returns the refusal of the guard that matches across */
  refuse(before: string, text: string): Refusal | undefined {
    if (before === '' || text === '') return undefined
    for (const guard of this.#guards) {
      const startMs = this.#exchange.context.monotonic()
      const refusal = matchAcross(guard, before.slice(-EDGE_LENGTH), text)
      if (refusal === undefined) continue
      noteCheck(this.#exchange, guard, startMs, { verdict: 'Reject', length: text.length })
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
  stage.text(undefined, text.slice(0, HEAD_LENGTH))
  if (text.length <= HEAD_LENGTH) stage.finish()
  return refusal
}
