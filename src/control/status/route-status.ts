import { compareText } from '#base/compare-text.ts'
import type { Finding } from '#base/finding.ts'
import { type ConditionDraft, conditionsOf } from '../context/condition.ts'
import type { AttachedParent } from '../routes/attach-route.ts'
import type { TranslatedRoute } from '../routes/translate-route.ts'

export interface RouteFacts {
  /** `controllerName` of our entries. */
  readonly controller: string
  readonly hasNoEndpoints: (backend: string) => boolean
  /** Of the route. */
  readonly errors: readonly Finding[]
}

/** `status` of a route: one entry for each parent (Gateway API). A message lists Services without endpoints (decision A-131). */
export function routeStatus(
  { route, accepted, resolvedRefs, uses }: TranslatedRoute,
  { controller, hasNoEndpoints, errors }: RouteFacts,
) {
  const unresolved = resolvedRefs ?? guardedMirror(errors)
  const condition = conditionsOf(route.object)
  const endpointless = [...new Set(uses.map(({ to }) => to).filter(hasNoEndpoints))]
  const note = endpointless.length === 0 ? '' : `; no endpoints for ${endpointless.join(', ')}`
  const own = route.parents.map(({ ref, gateway, fault, note: exception }) => {
    const refused = fault ?? accepted
    return {
      parentRef: ref,
      controllerName: controller,
      conditions: [
        refused === undefined
          ? condition(
              'Accepted',
              'True',
              'Accepted',
              exception === undefined ? 'Route accepted' : `Route accepted, but ${exception}`,
            )
          : condition('Accepted', 'False', refused.reason, refused.message),
        unresolved === undefined
          ? condition('ResolvedRefs', 'True', 'ResolvedRefs', `All references resolved${note}`)
          : condition('ResolvedRefs', 'False', unresolved.reason, unresolved.message),
        ...refusedConditions(
          condition,
          errors.filter((error) => error.gateway !== undefined && error.gateway === gateway),
        ),
      ],
    }
  })
  const all = [...foreignParents(route.object.status, controller), ...own]
  return { parents: all.sort((a, b) => compareText(sortKey(a.parentRef), sortKey(b.parentRef))) }
}

/** @param refusals what proxies of the Gateway cannot use of the route */
function refusedConditions(condition: ReturnType<typeof conditionsOf>, refusals: readonly Finding[]): ConditionDraft[] {
  if (refusals.length === 0) return []
  const lines = refusals.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('\n')
  return [condition('PartiallyInvalid', 'True', 'UnsupportedValue', lines)]
}

/** Whether a backend has prompt guards is known when its policies are compiled. */
function guardedMirror(errors: readonly Finding[]): TranslatedRoute['resolvedRefs'] {
  const found = errors.find(({ code }) => code === 'mirror-guarded')
  return found && { reason: 'UnsupportedProtocol', message: found.message }
}

interface ParentEntry {
  readonly parentRef: AttachedParent['ref']
  readonly controllerName: string
}

/** The entries of other controllers; a status with an invalid shape has none. */
function foreignParents(status: unknown, controller: string): readonly ParentEntry[] {
  const parents = (status as { readonly parents?: unknown } | null | undefined)?.parents
  const isForeign = (entry: Partial<ParentEntry> | null) =>
    typeof entry?.parentRef === 'object' && entry.controllerName !== controller
  return Array.isArray(parents) ? parents.filter(isForeign) : []
}

function sortKey({ group, kind, namespace = '', name, sectionName = '', port }: AttachedParent['ref']): string {
  return `${group}/${kind}/${namespace}/${name}/${sectionName}/${port ?? ''}`
}
