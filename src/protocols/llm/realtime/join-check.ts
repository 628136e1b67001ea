import type { Exchange } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { Guard, RegexGuard } from '../guards/guard.ts'
import { noteCheck } from '../guards/guard-log.ts'
import { namesOf, refuseByRules } from '../guards/rule-names.ts'
import { changesAtEnd } from '../guards/rules/joined-scanner.ts'
import { chainsBehind, MaskPipeline } from '../guards/rules/mask-pipeline.ts'
import type { TextRule } from '../guards/rules/text-rule.ts'
import { HAS_LEFT } from '../guards/stages/regex-stage.ts'

/** What a match that begins in an item and goes on in the next one is recognised by, in UTF-16 units. */
export const EDGE_LENGTH = 256
/** So much of a new text is searched for the rest of a match. */
const HEAD_LENGTH = 1024
/** It is compared in pieces. */
const PIECE_LENGTH = 64

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
      const rules = matchAcross(guard.rules, before, text)
      if (rules === undefined) continue
      const detail = guard.rejects ? undefined : HAS_LEFT
      noteCheck(this.#exchange, guard, startMs, { verdict: 'Reject', length: text.length, ...namesOf(rules), detail })
      return refuseByRules(guard, rules, detail)
    }
    return undefined
  }
}

/**
 * Whether a text is masked otherwise behind another one than alone, or something of the other one would be.
 * @returns the rule that does it, if it can be told; undefined: nothing matches across
 */
function matchAcross(rules: readonly TextRule[], before: string, text: string): readonly TextRule[] | undefined {
  const from = Math.max(0, before.length - EDGE_LENGTH)
  const behind = chainsBehind(rules, before.slice(from), before.charAt(from - 1))
  const joined = new MaskPipeline(rules, { joined: [behind] })
  if (!joined.isJoined) return undefined
  const alone = new MaskPipeline(rules)
  for (let at = 0; at < text.length && at < HEAD_LENGTH; at += PIECE_LENGTH) {
    const piece = text.slice(at, Math.min(at + PIECE_LENGTH, HEAD_LENGTH))
    joined.push(0, piece)
    alone.push(0, piece)
  }
  const isWhole = text.length <= HEAD_LENGTH
  if (isWhole) for (const pipeline of [joined, alone]) pipeline.finish(true)
  const masked = alone.take()
  const isSame = joined.take().every((piece, at) => at >= masked.length || piece.text === masked[at]!.text)
  const changing = isWhole ? joined.chains(0).findIndex(changesAtEnd) : -1
  if (!joined.overran && isSame && changing < 0) return undefined
  const rule = joined.overrunBy ?? (isSame ? rules[changing] : joined.ruleUnlike(alone))
  return rule === undefined ? [] : [rule]
}
