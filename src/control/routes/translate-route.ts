import type { GrpcRouteRuleSpec } from '#api/grpc-route.ts'
import type { HttpBackendRefSpec, HttpRouteRuleSpec } from '#api/http-route.ts'
import { keyOf } from '#api/object.ts'
import type { PlanItem, PolicyItem, RouteItem, WeightedBackend } from '#plan/item.ts'
import { ruleTarget } from '#plan/target.ts'
import type { Report } from '../finding-code.ts'
import { type PolicyField, policyItem } from '../policies/policy-item.ts'
import type { Use } from '../reach.ts'
import { type BackendRef, resolveBackend } from '../references/resolve-backend.ts'
import type { Scope } from '../scope.ts'
import type { Complaint } from '../status/condition.ts'
import type { AttachedRoute } from './attach-route.ts'
import { grpcMatches, httpMatches } from './route-matches.ts'
import { type MirrorFilter, type RuleFilters, readFilters } from './rule-filters.ts'

/** What a route became. */
export interface TranslatedRoute {
  readonly route: AttachedRoute
  readonly items: readonly PlanItem[]
  readonly uses: readonly Use[]
  /** Some rule cannot be served as it is written. */
  readonly accepted?: Complaint
  /** Some reference leads nowhere. */
  readonly resolvedRefs?: Complaint
}

type Rule = HttpRouteRuleSpec | GrpcRouteRuleSpec
type WeightedRef = Omit<HttpBackendRefSpec, 'filters'> & { readonly filters?: readonly unknown[] }

/** One translation of one route, filled rule by rule. */
interface Progress {
  readonly scope: Scope
  readonly route: AttachedRoute
  readonly report: Report
  readonly items: (RouteItem | PolicyItem)[]
  readonly uses: Use[]
  readonly accepted: Complaint[]
  readonly resolvedRefs: Complaint[]
}

/** Turns the rules of a route into plan items. A route that is attached nowhere yields none, but is checked all the same. */
export function translateRoute(scope: Scope, route: AttachedRoute, report: Report): TranslatedRoute {
  const progress: Progress = { scope, route, report, items: [], uses: [], accepted: [], resolvedRefs: [] }
  for (const [index, rule] of (route.object.spec.rules ?? []).entries()) translateRule(progress, rule, index)
  const [accepted] = progress.accepted
  const [resolvedRefs] = progress.resolvedRefs
  const attached = route.attachments.length > 0
  return {
    route,
    items: attached ? progress.items : [],
    uses: attached ? progress.uses : [],
    ...(accepted === undefined ? {} : { accepted }),
    ...(resolvedRefs === undefined
      ? {}
      : { resolvedRefs: { ...resolvedRefs, message: joined(progress.resolvedRefs) } }),
  }
}

function joined(complaints: readonly Complaint[]): string {
  return complaints.map(({ message }) => message).join('; ')
}

function translateRule(progress: Progress, rule: Rule, index: number): void {
  const { object, attachments } = progress.route
  const { namespace, name, creationTimestamp } = object.metadata
  const path = `spec.rules[${index}]`
  const filters = readFilters(rule.filters, path)
  for (const { path: at, code, reason, message } of filters.faults) {
    progress.report({ path: at, code, message, severity: 'error' })
    progress.accepted.push({ reason, message })
  }
  const target = ruleTarget(object.kind, object.metadata, index)
  const backends = (rule.backendRefs ?? []).map((ref, i) =>
    resolveRouteBackend(progress, ref, { path: `${path}.backendRefs[${i}]`, target }),
  )
  reportUnused(progress, rule, path)
  const broken = filters.faults.map(({ message }) => message).join('; ')
  progress.items.push({
    kind: 'route',
    key: `${keyOf(object)}/${index}`,
    route: { kind: object.kind, namespace, name },
    rule: index,
    ruleName: rule.name,
    created: creationTimestamp ?? '',
    attachments,
    matches:
      object.kind === 'HTTPRoute'
        ? httpMatches((rule as HttpRouteRuleSpec).matches)
        : grpcMatches((rule as GrpcRouteRuleSpec).matches),
    backends: broken === '' ? backends : [],
    ...(broken === '' ? {} : { broken }),
    origin: object.origin,
  })
  if (broken === '') progress.items.push(...filterItems(progress, rule, filters, { path, target }))
}

interface At {
  readonly path: string
  readonly target: string
}

/** A reference that leads nowhere keeps its weight: its share of the traffic is refused. */
function resolveRouteBackend(progress: Progress, ref: WeightedRef, { path, target }: At): WeightedBackend {
  const { weight } = ref
  if (ref.filters !== undefined && ref.filters.length > 0) {
    const message = 'filters of a single backendRef are not implemented yet; its share of the traffic is refused'
    progress.report({ path: `${path}.filters`, code: 'not-implemented', message, severity: 'error' })
    progress.accepted.push({ reason: 'UnsupportedValue', message })
    return { backend: undefined, weight, path }
  }
  return { backend: useBackend(progress, ref, { path, target }), weight, path }
}

/** @returns the key of the backend, or undefined after complaining */
function useBackend(progress: Progress, ref: BackendRef, { path, target }: At): string | undefined {
  const { key, fault } = resolveBackend(progress.scope, progress.route.object, ref)
  if (fault === undefined && key !== undefined) {
    progress.uses.push({ from: target, to: key })
    return key
  }
  if (fault !== undefined) {
    const { code, reason, message, field } = fault
    progress.report({ path: `${path}${field}`, code, message, severity: 'error' })
    progress.resolvedRefs.push({ reason, message })
  }
  return undefined
}

/** Filters, timeouts and retry of the rule are policies at the strongest level of `traffic` (decision A-22). */
function filterItems(progress: Progress, rule: Rule, filters: RuleFilters, at: At): readonly PolicyItem[] {
  const { object } = progress.route
  const fields: Omit<PolicyField, 'object' | 'section' | 'phase'>[] = [...filters.fields]
  if (filters.mirrors.length > 0) {
    const [first] = filters.mirrors
    const spec = filters.mirrors.flatMap((mirror) => mirrorSpec(progress, mirror, at.target))
    fields.push({ field: 'requestMirror', path: first!.path, spec })
  }
  const { timeouts, retry } = limitsOf(progress.route, rule)
  if (timeouts !== undefined) fields.push({ field: 'timeouts', path: `${at.path}.timeouts`, spec: timeouts })
  if (retry !== undefined) fields.push({ field: 'retry', path: `${at.path}.retry`, spec: retry })
  return fields.map((field) =>
    policyItem(
      { object, section: 'traffic', phase: 'PostRouting', ...field },
      { target: at.target, level: 'RouteFilter' },
    ),
  )
}

/** Only HTTPRoute has them (Gateway API). */
function limitsOf({ object }: AttachedRoute, rule: Rule): Pick<HttpRouteRuleSpec, 'timeouts' | 'retry'> {
  return object.kind === 'HTTPRoute' ? (rule as HttpRouteRuleSpec) : {}
}

/** A mirror that leads nowhere is left out: it never decides about the request itself. */
function mirrorSpec(progress: Progress, { filter, path }: MirrorFilter, target: string) {
  const backend = useBackend(progress, filter.backendRef, { path: `${path}.requestMirror.backendRef`, target })
  if (backend === undefined) return []
  const { numerator, denominator } = filter.fraction ?? { numerator: filter.percent ?? 100, denominator: 100 }
  return [{ backend, numerator, denominator }]
}

/** Parts of a rule that have no effect. */
function reportUnused({ report }: Progress, rule: Rule, path: string): void {
  if (rule.sessionPersistence === undefined) return
  const message = 'sessionPersistence is not implemented yet; requests are balanced without it'
  report({ path: `${path}.sessionPersistence`, code: 'not-implemented', message, severity: 'warning' })
}
