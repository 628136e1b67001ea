import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import { llmReadsOf } from '#exchange/llm-reads.ts'
import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { choose, compileChoices, conditionsOf, warnWithoutFallback } from '../../shared/choose.ts'
import { judgeContent } from '../../shared/judge-content.ts'
import { compileGlobal, expressionsBefore } from './compile-global.ts'
import { compileLocal } from './compile-local.ts'
import { type GlobalLimit, runGlobalLimit } from './run-global.ts'
import { type LocalLimits, runLocalLimits } from './run-local.ts'
import type { RateLimitSection, RateLimitSpec } from './schema.ts'

interface RateLimits {
  readonly local: LocalLimits
  readonly global: GlobalLimit | undefined
}

export function compileRateLimit(
  sources: readonly PolicySource<RateLimitSection>[],
  context: CompileContext,
): PolicyRun {
  const source = sources[0]!
  const choices = compileChoices<RateLimitSpec, RateLimits>(source, context, (spec, path) => ({
    local: compileLocal(source, path, spec.local ?? [], context),
    global: spec.global && compileGlobal(source, path, spec.global, context),
  }))
  warnWithoutFallback(source, choices, context, 'requests are not limited')
  const limits = choices.map(({ policy }) => policy)
  const use = readsRequestBody([...conditionsOf(choices), ...limits.flatMap(expressionsOf)])
  const judge = (exchange: Exchange) => {
    const chosen = choose(choices, exchange)
    if (chosen === undefined) return undefined
    const refused = runLocalLimits(chosen.local, exchange)
    return refused ?? (chosen.global && runGlobalLimit(chosen.global, exchange))
  }
  return {
    request: (exchange) => judgeContent(exchange, use !== false, judge, (outcome) => outcome),
    readsRequestBody: use,
    llmReads: llmReadsOf(limits.flatMap(({ global }) => global?.tokens.flatMap(({ cost }) => cost ?? []) ?? [])),
  }
}

/** Those that are evaluated before the request is sent. */
function expressionsOf({ local, global }: RateLimits): Expression[] {
  return [...local.byKey.map(({ key }) => key), ...(global === undefined ? [] : expressionsBefore(global))]
}
