import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import type { CompileContext, PolicySource } from '../policy.ts'

/** A section after validation: its own fields, or `conditional` instead of them (specification 2, 2.2.1). */
export type SectionOf<P> =
  | (P & { readonly conditional?: undefined })
  | { readonly conditional: readonly { readonly condition?: string | undefined; readonly policy: P }[] }

/** One alternative of the section. */
export interface Choice<T> {
  /** Undefined: always applies, the fallback. */
  readonly condition: Expression | undefined
  readonly policy: T
}

/** Compiles a section to its alternatives; a section that is not conditional has one without condition. */
export function compileChoices<P, T>(
  source: PolicySource<SectionOf<P>>,
  context: CompileContext,
  compile: (spec: P, path: string) => T,
): readonly Choice<T>[] {
  const { spec } = source
  if (spec.conditional === undefined) return [{ condition: undefined, policy: compile(spec, '') }]
  return spec.conditional.map(({ condition, policy }, index) => {
    const path = `.conditional[${index}]`
    return {
      condition:
        condition === undefined
          ? undefined
          : context.expression(source, `${path}.condition`, condition, 'request', 'condition'),
      policy: compile(policy, `${path}.policy`),
    }
  })
}

/** The first alternative whose condition is true; a condition that fails is not true (decision A-31). */
export function choose<T>(choices: readonly Choice<T>[], exchange: Exchange): T | undefined {
  let applies = 0
  for (; applies < choices.length; applies++) {
    const { condition } = choices[applies]!
    if (condition === undefined || condition.isTrue(exchange)) break
  }
  if (exchange.trace !== undefined) traceChoice(choices, applies, exchange)
  return choices[applies]?.policy
}

/** Tells `explain` which alternative applies, and why earlier ones do not. */
function traceChoice(choices: readonly Choice<unknown>[], applies: number, exchange: Exchange): void {
  if (choices.every(({ condition }) => condition === undefined)) return
  exchange.trace?.note(applies < choices.length ? `conditional[${applies}] applies` : 'no entry of conditional applies')
  for (let i = 0; i < applies; i++) {
    const why = choices[i]!.condition?.whyFailed(exchange)
    const reason = why === undefined ? 'is not true' : `fails: ${why}`
    exchange.trace?.note(`not conditional[${i}]: its condition ${reason}`)
  }
}

/** All conditions of the alternatives. */
export function conditionsOf(choices: readonly Choice<unknown>[]): Expression[] {
  return choices.flatMap(({ condition }) => condition ?? [])
}

/**
 * Warns if every condition can fail and there is no fallback, so that requests can bypass the section (decision A-31). For restrictive
 * sections; `otherwise` describes the effect on such a request.
 */
export function warnWithoutFallback(
  source: PolicySource<unknown>,
  choices: readonly Choice<unknown>[],
  context: CompileContext,
  otherwise: string,
): void {
  if (!choices.every(({ condition }) => condition?.canFail !== undefined)) return
  const message = `when no condition is true, ${otherwise}; add a last entry without condition as the fallback`
  context.report(source, '.conditional', { severity: 'warning', code: 'no-fallback', message })
}
