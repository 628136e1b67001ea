import { runInSlices, type Steps } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { Head } from '#net/http/head.ts'
import { askAboutBody, askedTogether, askTogether } from './ask-service.ts'
import { concludeVerdict, type JudgedTexts } from './conclude-verdict.ts'
import type { Guard, RegexGuard } from './guard.ts'
import { noteCheck } from './guard-log.ts'
import { namesOf, refuseByRules } from './guard-refusals.ts'
import { ServiceContents } from './service-contents.ts'
import type { GuardedTexts } from './texts/guarded-texts.ts'
import { findInTexts, maskTexts, type RuleVerdict } from './texts/mask-texts.ts'

/** A body under guard. */
export interface Guarded {
  readonly exchange: Exchange
  readonly texts: GuardedTexts
  /** The head of the message. */
  readonly head: Head
}

/**
 * Runs guards in order on the texts of a body. Each guard sees the output of the previous ones, and the first rejection ends the run (decision
 * B51). Masks change the texts.
 * @returns the refusal of a guard; a promise only if a service is asked, or patterns take long
 */
export function runGuards(
  guards: readonly Guard[],
  guarded: Guarded,
  from = 0,
): Refusal | undefined | Promise<Refusal | undefined> {
  const askAt = (next: Refusal | number) => {
    if (typeof next !== 'number') return next
    return next < guards.length ? askFrom(guards, guarded, next) : undefined
  }
  const next = runInSlices(runRules(guards, guarded, from))
  return next instanceof Promise ? next.then(askAt) : askAt(next)
}

/** Runs guards up to the next service. @returns its index, that after the last guard if there is none, or the refusal of a guard */
export function* runRules(guards: readonly Guard[], guarded: Guarded, from: number): Steps<Refusal | number> {
  for (let at = from; at < guards.length; at++) {
    const guard = guards[at]!
    if (guard.kind !== 'regex') return at
    const { exchange, texts } = guarded
    const startMs = exchange.context.monotonic()
    const verdict = yield* guard.rejects ? findInTexts(guard.rules, texts) : maskTexts(guard.rules, texts)
    const refusal = concludeRules(guard, verdict, exchange, { startMs, length: yield* texts.measure() })
    if (refusal !== undefined) return refusal
  }
  return guards.length
}

/** Records what patterns found. @returns the refusal if the texts must not pass */
export function concludeRules(
  guard: RegexGuard,
  verdict: RuleVerdict,
  exchange: Exchange,
  { startMs, length }: Pick<JudgedTexts, 'startMs' | 'length'>,
): Refusal | undefined {
  if (verdict.kind === 'pass') noteCheck(exchange, guard, startMs, { verdict: 'Allow', length })
  else {
    const { rules } = verdict
    const names = namesOf(rules)
    if (verdict.kind === 'mask') noteCheck(exchange, guard, startMs, { verdict: 'Mask', length, ...names })
    else {
      const { detail } = verdict
      noteCheck(exchange, guard, startMs, { verdict: 'Reject', length, ...names, detail })
      return refuseByRules(guard, rules, detail)
    }
  }
  return undefined
}

/** Asks the service at `at`, and those that are asked with it. */
async function askFrom(guards: readonly Guard[], guarded: Guarded, at: number): Promise<Refusal | undefined> {
  const together = askedTogether(guards.slice(at))
  const { exchange, texts, head } = guarded
  const contents = await runInSlices(ServiceContents.of(texts))
  const { messages } = contents
  if (messages.length > 0) {
    const startMs = exchange.context.monotonic()
    const pending = askTogether(together, (guard, needless) =>
      askAboutBody(guard, { phase: guard.phase, messages, head }, exchange, needless),
    )
    const length = await runInSlices(texts.measure())
    for (const [index, asked] of (await pending).entries()) {
      const { verdict } = asked
      const isMasked = verdict.kind === 'mask' && (await runInSlices(contents.mask(verdict.contents)))
      const refusal = concludeVerdict(together[index]!, asked, { length, startMs, isMasked }, exchange)
      if (refusal !== undefined) return refusal
    }
  }
  return runGuards(guards, guarded, at + together.length)
}
