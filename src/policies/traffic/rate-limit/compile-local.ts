import { describeOrigin } from '#base/origin.ts'
import type { Expression } from '#exchange/expression.ts'
import type { TokenBucketSettings } from '#state/token-bucket.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import type { LocalLimit, LocalLimits } from './run-local.ts'
import type { LocalRateLimitSpec, RateLimitSection } from './schema.ts'

type Source = PolicySource<RateLimitSection>

const UNIT_MS = { Seconds: 1000, Minutes: 60_000, Hours: 3_600_000 } as const

/** @param path of the limits, relative to the source */
export function compileLocal(
  source: Source,
  path: string,
  entries: readonly LocalRateLimitSpec[],
  context: CompileContext,
): LocalLimits {
  const limits = bucketKeys(source, path, entries).map(({ bucketKey, entry }, index): LocalLimit => {
    const settings = bucketSettings(entry)
    const unit = entry.tokens === undefined ? 'requests' : 'tokens'
    const entryPath = `${path}.local[${index}]`
    const where = `${describeOrigin(source.origin)}, ${source.path}${entryPath}`
    if (entry.key === undefined) return { unit, where, bucket: context.tokenBucket(bucketKey, settings) }
    const key = compileKey(source, `${entryPath}.key`, entry.key, context)
    return { unit, where, bucket: context.valueBuckets(bucketKey, settings), key }
  })
  return {
    all: limits,
    requests: limits.flatMap(({ unit, bucket }) => (unit === 'requests' ? bucket : [])),
    tokens: limits.flatMap(({ unit, bucket }) => (unit === 'tokens' ? bucket : [])),
    byKey: limits.filter((limit) => limit.key !== undefined),
  }
}

/** Variables that have another value for each request or connection of the same caller. */
const CHANGING = ['request.startTime', 'source.port', 'source.rawPort']

function compileKey(source: Source, path: string, text: string, context: CompileContext): Expression {
  // Authentication runs before limits.
  const key = context.expression(source, path, text, 'request', 'key', context.guaranteed(source))
  if (key.references.size === 0 && !key.broken) {
    const message = 'this key does not depend on the request, so it is the same for all callers'
    context.report(source, path, { severity: 'warning', code: 'no-effect', message })
  }
  const changing = CHANGING.find((name) => key.references.has(name))
  if (changing !== undefined) {
    const message = `${changing} differs between requests or connections of the same caller, so this limits nothing`
    context.report(source, path, { severity: 'warning', code: 'limit-key-changes', message })
  }
  if (key.canFail !== undefined) {
    const [what = '', ...lines] = key.canFail.split('\n')
    const message = [`${what}; requests without the key share one limit`, ...lines].join('\n')
    context.report(source, path, { severity: 'advice', code: 'limit-key-can-fail', message })
  }
  const chosen = [...key.references].find((name) => name.startsWith('request.') && !CHANGING.includes(name))
  if (chosen !== undefined) {
    const message = `clients control ${chosen}, so they can evade this limit with new values; use verified values such as jwt.sub, apiKey.key or source.address`
    context.report(source, path, { severity: 'advice', code: 'limit-key-from-client', message })
  }
  return key
}

/** Capacity is rate plus burst; the whole rate is added each full unit (decision A-79). */
function bucketSettings(entry: LocalRateLimitSpec): TokenBucketSettings {
  const rate = entry.requests ?? entry.tokens ?? 0
  return { rate, capacity: rate + (entry.burst ?? 0), unitMs: UNIT_MS[entry.unit] }
}

/**
 * One bucket, or one set of buckets, per policy, target and entry (decision A-80). Its key has the content of the entry and not its position,
 * so that an unchanged entry keeps its level; equal entries are numbered.
 */
function bucketKeys(
  source: Source,
  path: string,
  entries: readonly LocalRateLimitSpec[],
): { readonly bucketKey: string; readonly entry: LocalRateLimitSpec }[] {
  const { origin, target } = source
  const scope = `rateLimit ${origin.kind}/${origin.namespace}/${origin.name} ${target} ${conditionAt(source, path)}`
  const seen = new Map<string, number>()
  return entries.map((entry) => {
    const { requests, tokens, unit, burst = 0, key } = entry
    const content = `requests=${requests} tokens=${tokens} unit=${unit} burst=${burst}${key === undefined ? '' : ` key=${key}`}`
    const count = seen.get(content) ?? 0
    seen.set(content, count + 1)
    return { bucketKey: `${scope} ${content} #${count}`, entry }
  })
}

/** The condition of a conditional item, which distinguishes it from the others. */
function conditionAt(source: Source, path: string): string {
  const { conditional } = source.spec
  const index = /\[(\d+)\]/.exec(path)?.[1]
  if (conditional === undefined || index === undefined) return ''
  return `if ${conditional[Number(index)]?.condition ?? 'nothing else'}`
}
