import type { GatewayObject } from '#api/gateway.ts'
import { GATEWAY_GROUP } from '#api/groups.ts'
import type { ParentReference } from '#api/parent-reference.ts'
import type { Inventory } from '../context/inventory.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import { reportClasslessParent } from '../gateways/resolve-gateways.ts'
import { reportMixedSections } from '../references/mixed-sections.ts'
import { wrongReference } from '../references/wrong-reference.ts'
import type { RouteObject } from './route-object.ts'

/** Reports parents that have no effect. Those that refuse the route are reported when it is attached. */
export function checkParents(context: TranslationContext, route: RouteObject): void {
  const { metadata, spec } = route
  const report = context.reportOn(route)
  const { parentRefs = [], useDefaultGateways } = spec
  if (useDefaultGateways !== undefined) {
    const message = 'default Gateways are not implemented yet; set parentRefs'
    report({ path: 'spec.useDefaultGateways', code: 'not-implemented', message, severity: 'error' })
  } else if (parentRefs.length === 0) {
    const message = 'the route has no parents, so it serves nothing; set parentRefs'
    report({ path: 'spec.parentRefs', code: 'no-effect', message, severity: 'warning' })
  }
  const identityOf = ({ group, kind, namespace = metadata.namespace, name }: ParentReference) =>
    JSON.stringify([group, kind, namespace, name])
  reportMixedSections(parentRefs, { path: 'spec.parentRefs', identityOf, fields: ['sectionName', 'port'] }, report)
  for (const [index, ref] of parentRefs.entries()) {
    const path = `spec.parentRefs[${index}]`
    const first = firstEqual(parentRefs, index, metadata.namespace)
    if (first !== index) {
      const message = `is the same as item ${first}; it has no effect`
      report({ path, code: 'duplicate', message, severity: 'warning' })
    } else if (!isParentKind(ref)) reportForeignKind(ref, path, report)
    else {
      const gateway = gatewayOf(context.inventory, ref, metadata.namespace)
      if (gateway !== undefined) reportClasslessParent(context, gateway, { path, report })
    }
  }
}

/** The index of the first reference that is equal (Gateway API, ParentReference). @param own namespace of the route */
export function firstEqual(refs: readonly ParentReference[], index: number, own: string): number {
  const identity = ({ group, kind, namespace = own, name, sectionName, port }: ParentReference) =>
    JSON.stringify([group, kind, namespace, name, sectionName, port])
  const wanted = identity(refs[index]!)
  return refs.findIndex((ref) => identity(ref) === wanted)
}

export function isParentKind<Ref extends Pick<ParentReference, 'group' | 'kind'>>(
  ref: Ref,
): ref is Ref & { readonly kind: 'Gateway' | 'ListenerSet' } {
  return ref.group === GATEWAY_GROUP && (ref.kind === 'Gateway' || ref.kind === 'ListenerSet')
}

/** Service meshes attach routes to Services, so that is only advice. */
function reportForeignKind({ group, kind }: ParentReference, path: string, report: Report): void {
  const isMesh = group === '' && kind === 'Service'
  const field = group === GATEWAY_GROUP || isMesh ? 'kind' : 'group'
  const title = `a ${kind}${group === '' ? '' : ` of ${group}`}`
  const why = isParentKind({ group: GATEWAY_GROUP, kind })
    ? wrongReference({ group, kind }, { [kind]: GATEWAY_GROUP }).message
    : `this controller attaches routes to Gateways and ListenerSets, not to ${title}`
  const message = `${why}; this parent has no effect`
  report({ path: `${path}.${field}`, code: 'no-effect', message, severity: isMesh ? 'advice' : 'warning' })
}

/** The Gateway that a parent is, or belongs to. */
function gatewayOf(
  inventory: Inventory,
  { kind, namespace, name }: ParentReference,
  own: string,
): GatewayObject | undefined {
  if (kind === 'Gateway') return inventory.find('Gateway', namespace ?? own, name)
  const set = inventory.find('ListenerSet', namespace ?? own, name)
  if (set?.spec.parentRef.kind !== 'Gateway') return undefined
  return inventory.find('Gateway', set.spec.parentRef.namespace ?? set.metadata.namespace, set.spec.parentRef.name)
}
