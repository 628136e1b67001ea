import { parseDuration } from '#base/duration.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { EvictionSettings } from '#state/endpoint-health.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import type { BackendHealthSpec, EvictionSpec } from './schema.ts'

export interface HealthSetting {
  /** Undefined: endpoints are never evicted (decision A-99). */
  readonly eviction: EvictionSettings | undefined
  /** Whether a response is unhealthy. A missing response is always unhealthy (decision A-99). */
  readonly isUnhealthy: (exchange: Exchange, status: number) => boolean
}

export function compileHealth(
  sources: readonly PolicySource<BackendHealthSpec>[],
  context: CompileContext,
): HealthSetting {
  const source = sources[0]
  if (source === undefined) return { eviction: undefined, isUnhealthy: isServerError }
  const { eviction, unhealthyCondition } = source.spec
  return {
    eviction: eviction === undefined ? undefined : compileEviction(eviction),
    isUnhealthy:
      unhealthyCondition === undefined ? isServerError : compileCondition(source, unhealthyCondition, context),
  }
}

/** The default condition (specification 2, 2.3). */
function isServerError(_: Exchange, status: number): boolean {
  return status >= 500
}

/** The condition replaces the default for all responses. If its evaluation fails, the response is healthy. */
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
    durationMs: parseDuration(spec.duration)!,
    restoreHealth: fraction(spec.restoreHealth),
    consecutiveFailures: spec.consecutiveFailures,
    healthThreshold: fraction(spec.healthThreshold),
  }
}

function fraction(percent: number | undefined): number | undefined {
  return percent === undefined ? undefined : percent / 100
}
