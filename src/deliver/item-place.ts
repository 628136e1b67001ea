import { policyDefinition } from '#api/policy-fields.ts'
import { readsWorkload } from '#control/stages/workload-stages.ts'
import { ownBackendName } from '#exchange/backend-name.ts'
import { type BackendRef, backendKey } from '#plan/backend-key.ts'
import type { BackendItem, ListenerItem, PlanItem, PolicyItem, RelayRouteItem, RouteItem } from '#plan/item.ts'
import {
  backendTarget,
  gatewayTarget,
  listenerSetTarget,
  listenerTarget,
  routeTarget,
  ruleTarget,
} from '#plan/target.ts'
import { type Reference, walk } from '#schema/index.ts'

/** All Secrets of a namespace with some labels. */
export interface SecretSelection {
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
}

/**
 * Where an item is among those that a Gateway uses. Nodes are keys of items and targets of policies: a Gateway uses an item if some of its
 * nodes can be reached from the Gateway.
 */
export interface ItemPlace {
  /** The nodes of the item. */
  readonly at: readonly string[]
  /** The nodes that it leads to. */
  readonly leadsTo: readonly string[]
  /** Secrets that it leads to. */
  readonly selects: readonly SecretSelection[]
}

/** The node of all Pods. */
const WORKLOADS = 'workloads'

export function placeOf(item: PlanItem): ItemPlace {
  switch (item.kind) {
    case 'listener':
      return place([gatewayTarget(item.gateway)], listenerUses(item))
    case 'route':
    case 'relay-route':
      return place(
        item.attachments.map(({ listener }) => listener),
        ruleUses(item),
      )
    case 'policy':
      return policyPlace(item)
    case 'backend':
      return place([item.key], backendUses(item))
    case 'workload':
      return place([WORKLOADS])
    default:
      return place([item.key])
  }
}

function place(
  at: readonly string[],
  leadsTo: readonly string[] = [],
  selects: readonly SecretSelection[] = [],
): ItemPlace {
  return { at, leadsTo, selects }
}

function listenerUses({ key, gateway, listenerSet, name, certificates, clientValidation }: ListenerItem) {
  const targets =
    listenerSet === undefined
      ? [listenerTarget(gateway, name)]
      : [listenerSetTarget(listenerSet), listenerSetTarget(listenerSet, name)]
  return [key, ...targets, ...certificates, ...(clientValidation?.authorities ?? [])]
}

/** Policies for a whole route apply to each of its rules. */
function ruleUses({ route, rule, ruleName, backends }: RouteItem | RelayRouteItem) {
  const own = [routeTarget(route.kind, route), ruleTarget(route.kind, route, rule)]
  if (ruleName !== undefined) own.push(routeTarget(route.kind, route, ruleName))
  return [...own, ...backends.flatMap(({ backend, filters }) => [backend ?? [], filters ?? []].flat())]
}

function backendUses(item: BackendItem): readonly string[] {
  const { key, namespace, name, type } = item
  // The key is also the target of policies for a port or for all of a ProxyBackend.
  if (type === 'service')
    return [key, backendTarget('Service', { namespace, name }), `Endpoints/${key.slice('Service/'.length)}`]
  return [key, ...(type === 'mcp' ? item.spec.targets.flatMap(({ backend }) => backend ?? []) : [])]
}

/** Policies for a provider or MCP target belong to the whole ProxyBackend. */
function targetNode(target: string): string {
  return target.startsWith('ProxyBackend/') ? target.split('/').slice(0, 3).join('/') : target
}

function policyPlace(item: PolicyItem): ItemPlace {
  const { section, field, spec, path, origin, broken } = item
  const leadsTo: string[] = readsWorkload(item) ? [WORKLOADS] : []
  // The only reference with a namespace of its own; it is broken if no ReferenceGrant permits it.
  if (field === 'clientCertificate' && broken === undefined)
    leadsTo.push(referredKey('secret', spec, (spec as { readonly namespace: string }).namespace))
  const selects: SecretSelection[] = []
  const schema = policyDefinition(section, field)?.schema
  if (schema !== undefined) {
    for (const { node, value, path: at } of walk(schema, spec, path)) {
      if (typeof value !== 'object' || value === null) continue
      if (node.ownBackend !== undefined)
        leadsTo.push(backendTarget('ProxyBackend', { namespace: origin.namespace, name: ownBackendName(origin, at) }))
      if (node.refersTo?.to === 'secrets') selects.push(selectionOf(origin.namespace, value))
      else if (node.refersTo !== undefined) leadsTo.push(referredKey(node.refersTo.to, value, origin.namespace))
    }
  }
  leadsTo.push(...filterBackends(item))
  // What the field must not use does not exist for it (decision A-35).
  const { notPermitted = [] } = item
  return place(
    [targetNode(item.target)],
    leadsTo.filter((key) => !notPermitted.includes(key)),
    selects,
  )
}

/** Filters of routes, such as RequestMirror and ExternalAuth, have the keys of their backends instead of references. */
function filterBackends({ level, spec }: PolicyItem): readonly string[] {
  if (level !== 'RouteFilter') return []
  return [spec as Filter | readonly Filter[]].flat().flatMap(({ backend }) => backend ?? [])
}

interface Filter {
  readonly backend?: string
}

// The schema of the field guarantees the shape of a reference.

function selectionOf(namespace: string, value: object): SecretSelection {
  return { namespace, labels: (value as { readonly matchLabels: SecretSelection['labels'] }).matchLabels }
}

function referredKey(to: Exclude<Reference['to'], 'secrets'>, value: object, namespace: string): string {
  const { name } = value as { readonly name: string }
  if (to === 'secret') return `Secret/${namespace}/${name}`
  return to === 'configMap' ? `ConfigMap/${namespace}/${name}` : backendKey(value as BackendRef, namespace)
}
