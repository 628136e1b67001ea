import { parseDuration } from '#base/duration.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { EvictionSettings } from '#state/endpoint-health.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import type { BackendHealthSpec, EvictionSpec } from './schema.ts'

export interface HealthSetting {
  /** Undefined: nothing is ever evicted (decision A-99). */
  readonly eviction: EvictionSettings | undefined
  /** `status` undefined: no response came. */
  readonly isUnhealthy: (exchange: Exchange, status: number | undefined) => boolean
}

const DURATION_MS = 3000

export function compileHealth(
  sources: readonly PolicySource<BackendHealthSpec>[],
  context: CompileContext,
): HealthSetting {
  const source = sources[0]
  if (source === undefined) return { eviction: undefined, isUnhealthy: isFailure }
  const { eviction, unhealthyCondition } = source.spec
  return {
    eviction: eviction === undefined ? undefined : compileEviction(eviction),
    isUnhealthy: unhealthyCondition === undefined ? isFailure : compileCondition(source, unhealthyCondition, context),
  }
}

/** A 5xx response, a connection failure, no answer in time (specification 2, 2.3). */
function isFailure(_: Exchange, status: number | undefined): boolean {
  return status === undefined || status >= 500
}

/** The condition replaces the default as a whole; one that fails is not true, and so the response counts as healthy. */
function compileCondition(
  source: PolicySource<BackendHealthSpec>,
  text: string,
  context: CompileContext,
): HealthSetting['isUnhealthy'] {
  const condition = context.expression(source, '.unhealthyCondition', text, 'health', 'condition')
  return (exchange) => condition.isTrue(exchange)
}

function compileEviction(spec: EvictionSpec): EvictionSettings {
  return {
    durationMs: parseDuration(spec.duration) ?? DURATION_MS,
    restoreHealth: fraction(spec.restoreHealth),
    consecutiveFailures: spec.consecutiveFailures,
    healthThreshold: fraction(spec.healthThreshold),
  }
}

function fraction(percent: number | undefined): number | undefined {
  return percent === undefined ? undefined : percent / 100
}
