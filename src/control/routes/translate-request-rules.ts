import type { GrpcRouteRuleSpec } from '#api/grpc-route.ts'
import type { HttpBackendRefSpec, HttpRouteRuleSpec } from '#api/http-route.ts'
import type { Refusal } from '#api/object.ts'
import type { PolicyItem, WeightedBackend } from '#plan/item.ts'
import { backendRefTarget, ruleTarget } from '#plan/target.ts'
import { type PolicyField, policyItem } from '../context/policy-item.ts'
import { checkFilters, checkMatchCount, checkRule, checkRuleNames } from './check-rules.ts'
import { reportImpossibleMatches } from './report-never-matched.ts'
import { grpcMatches, httpMatches } from './route-matches.ts'
import type { RequestRouteObject } from './route-object.ts'
import { type Progress, type ReferenceSource, reportFaults, ruleItem, useBackend } from './route-progress.ts'
import {
  type ExternalAuthFilter,
  type MirrorFilter,
  type RuleFilters,
  readBackendRefFilters,
  readFilters,
} from './rule-filters.ts'

type Rule = HttpRouteRuleSpec | GrpcRouteRuleSpec

/** The rules of an HTTPRoute or GRPCRoute. */
export function translateRequestRules(progress: RequestProgress): void {
  const rules = progress.object.spec.rules ?? []
  reportFaults(progress, [...checkRuleNames(rules), ...checkMatchCount(rules)])
  reportRefusal(progress)
  for (const [index, rule] of rules.entries()) translateRule(progress, rule, index)
}

type RequestProgress = Progress<RequestRouteObject>

/** Why a stand-in refuses, for its findings and for decision records. */
const REFUSALS = {
  'never-valid': {
    message: 'a gateway that starts with it refuses all requests that its rules match until it is valid',
    detail: 'has errors and no earlier valid version',
  },
  duplicate: {
    message:
      'refuses all requests that its rules match until it has a name of its own, because less specific routes would serve them with other policies',
    detail: 'is ignored because another object has its name',
  },
  untranslated: {
    message:
      'refuses all requests that its rules match while a bug stops its translation, because less specific routes would serve them with other policies',
    detail: 'is not in force because of a bug of the gateway',
  },
} as const satisfies Record<Refusal, object>

/** A route that is not in use: other routes, which may have other policies, do not get its requests (decision A-09). */
function reportRefusal(progress: RequestProgress): void {
  const { refusal } = progress.object
  if (refusal === undefined) return
  const { message } = REFUSALS[refusal]
  reportFaults(progress, [{ path: '', code: 'route-refuses', reason: 'UnsupportedValue', message }])
}

function refusalDetail({ refusal, origin }: RequestRouteObject): string | undefined {
  return refusal && `${origin.kind} ${origin.namespace}/${origin.name} ${REFUSALS[refusal].detail}`
}

function translateRule(progress: RequestProgress, rule: Rule, index: number): void {
  const { object } = progress
  const path = `spec.rules[${index}]`
  const filters = readFilters(rule.filters, path, object.kind)
  reportFaults(progress, [...filters.faults, ...checkRule(rule, path)])
  const target = ruleTarget(object.kind, object.metadata, index)
  const backends = (rule.backendRefs ?? []).map((ref, i) =>
    resolveRouteBackend(progress, ref, { path: `${path}.backendRefs[${i}]`, target, index: i, rule, filters }),
  )
  reportUnused(progress, rule, path)
  if (object.kind === 'HTTPRoute' && object.refusal === undefined)
    reportImpossibleMatches((rule as HttpRouteRuleSpec).matches ?? [], path, progress.report)
  const broken = refusalDetail(object) ?? filters.faults.map(({ message }) => message).join('; ')
  progress.items.push({
    kind: 'route',
    ...ruleItem(progress, rule, index),
    matches:
      object.kind === 'HTTPRoute'
        ? httpMatches((rule as HttpRouteRuleSpec).matches)
        : grpcMatches((rule as GrpcRouteRuleSpec).matches),
    backends: broken === '' ? backends : [],
    ...(broken === '' ? {} : { broken }),
  })
  if (broken === '') progress.items.push(...filterItems(progress, rule, filters, { path, target }))
}

interface BackendRefSource extends ReferenceSource {
  readonly index: number
  readonly rule: Rule
  /** The filters of the rule. */
  readonly filters: RuleFilters
}

/** A reference that cannot be used keeps its weight: its share of the requests is refused. */
function resolveRouteBackend(
  progress: RequestProgress,
  ref: HttpBackendRefSpec,
  at: BackendRefSource,
): WeightedBackend {
  const { object } = progress
  const { path, target: ruleTarget } = at
  const { weight, filters = [] } = ref
  const read = readBackendRefFilters(filters, path, object.kind, at.filters)
  reportFaults(progress, [...read.faults, ...checkFilters({ ...at.rule, filters }, path)])
  const backend = useBackend(progress, ref, at)
  if (read.faults.length > 0) return { backend: undefined, weight, path }
  if (filters.length === 0) return { backend, weight, path }
  const target = backendRefTarget(ruleTarget, at.index)
  const fields = [...read.fields, ...mirrorFields(progress, read, ruleTarget)]
  for (const field of fields) {
    progress.items.push(policyItem({ object, section: 'backend', ...field }, { target, level: 'RouteFilter' }))
  }
  return { backend, weight, path, filters: target }
}

/** Filters, timeouts and retry of a rule become `traffic` policies with the highest precedence (decision A-22). */
function filterItems(
  progress: RequestProgress,
  rule: Rule,
  filters: RuleFilters,
  at: ReferenceSource,
): readonly PolicyItem[] {
  const { object } = progress
  const fields: Omit<PolicyField, 'object' | 'section' | 'phase'>[] = [...filters.fields]
  if (filters.externalAuth !== undefined) {
    const { path } = filters.externalAuth
    fields.push({ field: 'extAuth', path, spec: externalAuthSpec(progress, filters.externalAuth, at.target) })
  }
  fields.push(...mirrorFields(progress, filters, at.target))
  const { sessionPersistence } = rule
  if (sessionPersistence !== undefined) {
    fields.push({ field: 'sessionPersistence', path: `${at.path}.sessionPersistence`, spec: sessionPersistence })
  }
  const { timeouts, retry } = limitsOf(progress, rule)
  if (timeouts !== undefined) fields.push({ field: 'timeouts', path: `${at.path}.timeouts`, spec: timeouts })
  if (retry !== undefined) fields.push({ field: 'retry', path: `${at.path}.retry`, spec: retry })
  return fields.map((field) =>
    policyItem(
      { object, section: 'traffic', phase: 'PostRouting', ...field },
      { target: at.target, level: 'RouteFilter' },
    ),
  )
}

/** Timeouts and retry; only HTTPRoute has them (Gateway API). */
function limitsOf({ object }: RequestProgress, rule: Rule): Pick<HttpRouteRuleSpec, 'timeouts' | 'retry'> {
  return object.kind === 'HTTPRoute' ? (rule as HttpRouteRuleSpec) : {}
}

/** One field for all mirrors. */
function mirrorFields(progress: RequestProgress, { mirrors }: RuleFilters, target: string) {
  const [first] = mirrors
  if (first === undefined) return []
  const spec = mirrors.flatMap((mirror) => mirrorSpec(progress, mirror, target))
  return [{ field: 'requestMirror', path: first.path, spec }]
}

/** A mirror whose backend cannot be resolved is omitted: mirrors never affect the request itself. */
function mirrorSpec(progress: RequestProgress, { filter, path }: MirrorFilter, target: string) {
  const at = `${path}.requestMirror.backendRef`
  const backend = useBackend(progress, filter.backendRef, { path: at, target })
  if (backend === undefined) return []
  const { numerator, denominator } = filter.fraction ?? { numerator: filter.percent ?? 100, denominator: 100 }
  return [{ backend, numerator, denominator, path: at }]
}

/** Without a usable backend the filter refuses the requests of its rule (Gateway API, HTTPRouteFilter). */
function externalAuthSpec(progress: RequestProgress, { filter, path }: ExternalAuthFilter, target: string) {
  const { backendRef, ...spec } = filter
  return { ...spec, backend: useBackend(progress, backendRef, { path: `${path}.backendRef`, target }) }
}

/** Fields of a GRPCRoute rule that are not implemented, with what to use instead. */
const UNREAD = {
  timeouts: 'use backend.http.requestTimeout of a ProxyPolicy',
  retry: 'use traffic.retry of a ProxyPolicy',
} as const

/** Reports fields of a rule that have no effect. */
function reportUnused({ object, report }: RequestProgress, rule: Rule, path: string): void {
  if (object.kind === 'HTTPRoute') return
  for (const [field, instead] of Object.entries(UNREAD)) {
    if (rule[field as keyof Rule] === undefined) continue
    const message = `${field} is not implemented yet; ${instead}`
    report({ path: `${path}.${field}`, code: 'not-implemented', message, severity: 'warning' })
  }
}
