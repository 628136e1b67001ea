import type { Origin } from '#base/origin.ts'
import type { DecidedBy } from '#exchange/decided-by.ts'
import type { Exchange } from '#exchange/exchange.ts'

/** A policy field that ran for a request, in its phase. */
export interface PolicyRecord extends DecidedBy {
  /** From the beginning of the request to the policy. */
  readonly startMs: number
  readonly durationMs: number
}

/** How far a request came in the policies of a phase, as the engine has it. */
export interface PassedPhase {
  /** Undefined: no policy ran. */
  readonly policies: readonly DecidedBy[] | undefined
  /** Index of the last one that ran. */
  readonly reached: number
  /** When the first one began, then when each of them ended; monotonic, NaN: it has not ended. */
  readonly timesMs: readonly number[]
}

/** The phases of a request; `backendProgress` is that of the last attempt. */
export interface Passed {
  readonly preProgress: PassedPhase
  readonly postProgress: PassedPhase
  readonly backendProgress: PassedPhase
}

/** No policy ran. */
const NOT_PASSED: PassedPhase = { policies: undefined, reached: -1, timesMs: [] }
export const NOTHING_PASSED: Passed = {
  preProgress: NOT_PASSED,
  postProgress: NOT_PASSED,
  backendProgress: NOT_PASSED,
}

/** How far a request or a relayed connection came, as the engine has it. */
export interface Reached {
  readonly listener?: { readonly item: { readonly origin: Origin } } | undefined
  readonly rule?: { readonly item: { readonly origin: Origin; readonly rule: number } } | undefined
  readonly backend?: { readonly item: { readonly origin: Origin } } | undefined
}

/** What a request met on its way, as the engine has it. */
export interface Passage extends Reached, Passed {}

/** The policies that ran, in order. @param startMs when the request was received, on the clock of the times */
export function policyRecords({ preProgress, postProgress, backendProgress }: Passed, startMs: number): PolicyRecord[] {
  return [preProgress, postProgress, backendProgress].flatMap((phase) => recordsOf(phase, startMs))
}

function recordsOf({ policies = [], reached, timesMs }: PassedPhase, startMs: number): PolicyRecord[] {
  return policies.slice(0, reached + 1).map((policy, i): PolicyRecord => {
    const fromMs = timesMs[i]!
    // A step whose request was abandoned has no end.
    const durationMs = Number.isNaN(timesMs[i + 1]) ? 0 : timesMs[i + 1]! - fromMs
    return { ...policy, startMs: fromMs - startMs, durationMs }
  })
}

/**
 * The object that caused a refusal that no policy decided: the Gateway without a route, the rule without a backend, or the backend that failed. Undefined: no
 * object did, for example because the request was malformed.
 */
export function causeOf(
  { listener, rule, backend }: Reached,
  { refusal, reason }: Pick<Exchange, 'refusal' | 'reason'>,
): DecidedBy | undefined {
  if (refusal === undefined) return undefined
  if (refusal === 'mcp-tool-changed')
    return backend && by('backend', 'backend', backend.item.origin, 'metadata.annotations')
  if (reason === 'NotFound') return listener && by('routing', 'listeners', listener.item.origin, 'spec.listeners')
  if (!BACKEND_REASONS.has(reason)) return undefined
  if (backend !== undefined) return by('backend', 'backend', backend.item.origin, '')
  return rule && by('routing', 'backendRefs', rule.item.origin, `spec.rules[${rule.item.rule}].backendRefs`)
}

const BACKEND_REASONS: ReadonlySet<string> = new Set(['NoHealthyBackend', 'UpstreamFailure', 'Timeout'])

function by(stage: DecidedBy['stage'], field: string, origin: Origin, path: string): DecidedBy {
  return { stage, field, sources: [{ origin, path }] }
}
