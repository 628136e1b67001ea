import { POLICIES, policyDefinition } from '#api/policy-fields.ts'
import { type BackendItem, LEVEL, type PlanItem, type PolicyItem } from '#plan/item.ts'
import { BACKEND_PROTOCOLS } from '#protocols/backend-protocols.ts'
import { nodeOf, unknownPart } from '#schema/index.ts'
import { ITEM_FIELDS, unknownIn } from './item-fields.ts'

/** An item as this version can serve it. */
export interface KnownItem {
  /** Undefined: nothing of it can be served, and nothing less is refused without it. */
  readonly item: PlanItem | undefined
  /** What of it this version does not know, and what follows; undefined: it knows all of it. */
  readonly lacks?: string
}

/**
 * Makes of an item of a controller of another version what this version can serve. What is not known may protect something: a policy, listener, route
 * or backend with it refuses what it would apply to (decision 0321). @returns undefined: it is not known what to refuse
 */
export function knownItem(item: PlanItem): KnownItem | undefined {
  const { kind, mayIgnore = [] } = item
  if (!Object.hasOwn(ITEM_FIELDS, kind)) return ofUnknownKind(item)
  const fields = Object.entries(item).filter(([name]) => !mayIgnore.includes(name))
  const unknown = unknownIn(ITEM_FIELDS[kind], Object.fromEntries(fields))
  if (kind === 'policy') return typeof item.target === 'string' ? knownPolicy(item, unknown) : undefined
  const at = unknown ?? (kind === 'backend' ? unknownOfBackend(item) : undefined)
  if (at === undefined) return { item }
  switch (kind) {
    case 'listener':
      return refusing(at, (broken) => ({ ...item, broken }))
    case 'route':
      return refusing(at, (broken) => ({ ...item, backends: [], broken }))
    case 'relay-route':
      return refusing(at, () => ({ ...item, backends: [] }))
    case 'backend':
      return refusing(at, (broken) => ({ ...item, ...NO_DESTINATION, broken }))
    case 'gateway':
      return undefined
    default:
      return { item, lacks: `${unknownTo(at)} and is ignored` }
  }
}

function refusing(at: string, make: (broken: string) => PlanItem): KnownItem {
  const broken = `${unknownTo(at)}, so what it may protect is refused`
  return { item: make(broken), lacks: broken }
}

function unknownTo(at: string): string {
  return `${at} is of another version than the proxy`
}

/** A policy of a kind that is not known is one by its target. The rules of a route of such a kind could not be told from those of others. */
function ofUnknownKind(item: { readonly kind: string; readonly target?: unknown; readonly attachments?: unknown }) {
  const at = `the kind ${item.kind}`
  if (typeof item.target === 'string') return refusing(at, (broken) => refusedPolicy(item as PolicyItem, broken))
  return item.attachments === undefined ? { item: undefined, lacks: `${unknownTo(at)} and is ignored` } : undefined
}

/** Whatever the rest of the item is, its target refuses. */
function refusedPolicy(
  { key, target, level, origin, path = '', created = '' }: PolicyItem,
  broken: string,
): PolicyItem {
  return {
    ...{ kind: 'policy', key, target, origin, path, created, broken },
    ...{ section: 'traffic', phase: 'PostRouting', field: 'refusedPolicy', spec: {} },
    level: Object.hasOwn(LEVEL, level) ? level : 'Route',
  }
}

function knownPolicy(item: PolicyItem, unknown: string | undefined): KnownItem {
  const refused = (at: string) => refusing(at, (broken) => refusedPolicy(item, broken))
  const { section, field, spec, level } = item
  const isField = Object.hasOwn(POLICIES, section) && policyDefinition(section, field) !== undefined
  if (!isField) return refused(`${section}.${field}`)
  if (unknown !== undefined || !Object.hasOwn(LEVEL, level)) return refused(unknown ?? 'level')
  const { schema, protects = [] } = policyDefinition(section, field)!
  // Filters of routes have members of their own.
  const at = schema === undefined || level === 'RouteFilter' ? undefined : unknownPart(schema, spec)
  if (at === undefined) return { item }
  const path = `${item.path}.${at}`
  const { properties = {} } = nodeOf(schema!)
  const [member = ''] = at.split(/[.[]/, 1)
  const mayProtect =
    protects === true || (protects.length > 0 && (protects.includes(member) || !Object.hasOwn(properties, member)))
  return mayProtect ? refused(path) : { item, lacks: `${unknownTo(path)} and is ignored` }
}

/** For a backend that is broken: nothing is sent there. */
const NO_DESTINATION = { type: 'dynamicForwardProxy', spec: {} } as const satisfies Pick<BackendItem, 'type' | 'spec'>

function unknownOfBackend({ type, spec }: BackendItem): string | undefined {
  if (!Object.hasOwn(BACKEND_PROTOCOLS, type)) return `type ${type}`
  const protocol = BACKEND_PROTOCOLS[type]
  // The targets of MCP servers are resolved.
  return type === 'mcp' || !('schema' in protocol) ? undefined : unknownPart(protocol.schema, spec, 'spec')
}
