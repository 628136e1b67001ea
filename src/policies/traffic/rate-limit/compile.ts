import { reject } from '#exchange/outcome.ts'
import type { TokenBucketSettings } from '#state/token-bucket.ts'
import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { choose, compileChoices, conditionsOf, warnWithoutFallback } from '../../shared/choose.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import { type LocalLimits, runLocalLimits } from './run.ts'
import type { LocalRateLimitSpec, RateLimitSection, RateLimitSpec } from './schema.ts'

type Source = PolicySource<RateLimitSection>

const UNIT_MS = { Seconds: 1000, Minutes: 60_000, Hours: 3_600_000 } as const

interface RateLimitPlan {
  readonly local: LocalLimits
  /** Refuses requests that an external service would have to decide on. */
  readonly refusesAll: boolean
}

const GLOBAL_REFUSED = reject('rate-limit-failed', { detail: 'global rate limits are not implemented yet' })

export function compileRateLimit(sources: readonly Source[], context: CompileContext): PolicyRun {
  const source = sources[0]!
  const choices = compileChoices<RateLimitSpec, RateLimitPlan>(source, context, (spec, path) => ({
    local: compileLocal(source, path, spec.local ?? [], context),
    refusesAll: refusesGlobal(source, path, spec, context),
  }))
  warnWithoutFallback(source, choices, context, 'requests are not limited')
  return {
    request(exchange) {
      const plan = choose(choices, exchange)
      if (plan === undefined) return undefined
      return runLocalLimits(plan.local, exchange) ?? (plan.refusesAll ? GLOBAL_REFUSED : undefined)
    },
    readsRequestBody: readsRequestBody(conditionsOf(choices)),
  }
}

/**
 * The external service is not called yet. `failureMode` is about a service that fails; a limit that nobody counts protects nothing, so requests
 * are refused in both modes (decision A-36).
 */
function refusesGlobal(source: Source, path: string, spec: RateLimitSpec, context: CompileContext): boolean {
  if (spec.global === undefined) return false
  reportNotImplemented(context, source, `${path}.global`, 'requests are refused, whatever failureMode says')
  return true
}

function compileLocal(
  source: Source,
  path: string,
  entries: readonly LocalRateLimitSpec[],
  context: CompileContext,
): LocalLimits {
  const named = bucketKeys(source, path, entries)
  const requests = []
  const tokens = []
  for (const { key, entry } of named) {
    const bucket = context.tokenBucket(key, bucketSettings(entry))
    if (entry.tokens === undefined) requests.push(bucket)
    else tokens.push(bucket)
  }
  return { requests, tokens }
}

/** Capacity is rate plus burst; the whole rate is added each full unit (decision A-79). */
function bucketSettings(entry: LocalRateLimitSpec): TokenBucketSettings {
  const rate = entry.requests ?? entry.tokens ?? 0
  return { rate, capacity: rate + (entry.burst ?? 0), unitMs: UNIT_MS[entry.unit] }
}

/**
 * One bucket per policy, target and entry (decision A-80). The key has the content of the entry and not its position, so that an unchanged
 * entry keeps its level (decision A-81); equal entries are numbered.
 */
function bucketKeys(
  source: Source,
  path: string,
  entries: readonly LocalRateLimitSpec[],
): { readonly key: string; readonly entry: LocalRateLimitSpec }[] {
  const { origin, target } = source
  const scope = `rateLimit ${origin.kind}/${origin.namespace}/${origin.name} ${target} ${conditionAt(source, path)}`
  const seen = new Map<string, number>()
  return entries.map((entry) => {
    const content = `requests=${entry.requests} tokens=${entry.tokens} unit=${entry.unit} burst=${entry.burst ?? 0}`
    const count = seen.get(content) ?? 0
    seen.set(content, count + 1)
    return { key: `${scope} ${content} #${count}`, entry }
  })
}

/** The condition of a conditional item, which distinguishes it from the others. */
function conditionAt(source: Source, path: string): string {
  const { conditional } = source.spec
  const index = /\[(\d+)\]/.exec(path)?.[1]
  if (conditional === undefined || index === undefined) return ''
  return `if ${conditional[Number(index)]?.condition ?? 'nothing else'}`
}
