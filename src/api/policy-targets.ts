import {
  type ConfigProblem,
  fieldPath,
  groupName,
  itemPath,
  kindName,
  mapOf,
  object,
  objectName,
  optional,
  type Parsed,
  problem,
  required,
  sectionName,
  text,
} from '#schema/index.ts'
import { GATEWAY_GROUP, OWN_GROUP } from './groups.ts'

const place = {
  group: required(groupName(), 'API group of the target. Empty for a Service.'),
  kind: required(kindName(), 'Kind of the target.'),
}
const section = {
  sectionName: optional(
    sectionName(),
    'One section of the target: a listener, a route rule, a port of a Service, or a provider or MCP target of a ProxyBackend.',
  ),
}

/** An entry of `targetRefs`: an object in the same namespace. */
export const policyTargetReference = object({
  ...place,
  name: required(objectName(), 'Name of the target.'),
  ...section,
})

/** An entry of `targetSelectors`: all objects of a kind in the same namespace that have the labels. */
export const policyTargetSelector = object({
  ...place,
  matchLabels: required(mapOf(text()), 'Labels and values that a target must have. An empty map selects all objects.'),
  ...section,
})

export type PolicyTargetReference = Parsed<typeof policyTargetReference>
export type PolicyTargetSelector = Parsed<typeof policyTargetSelector>

/** Kinds that a policy can target (decisions ), with their groups. */
const TARGET_GROUPS = {
  Gateway: GATEWAY_GROUP,
  ListenerSet: GATEWAY_GROUP,
  HTTPRoute: GATEWAY_GROUP,
  GRPCRoute: GATEWAY_GROUP,
  Service: '',
  ProxyBackend: OWN_GROUP,
  InferencePool: 'inference.networking.k8s.io',
} as const

export type TargetKind = keyof typeof TARGET_GROUPS

/** The targets that each section allows. */
export const SECTION_TARGETS = {
  frontend: ['Gateway'],
  traffic: ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'InferencePool'],
  backend: ['Gateway', 'ListenerSet', 'HTTPRoute', 'GRPCRoute', 'Service', 'ProxyBackend', 'InferencePool'],
} as const satisfies Record<string, readonly TargetKind[]>

export type TargetSection = keyof typeof SECTION_TARGETS

/** Whether all sections that a policy has can target objects of a kind. */
export function canTarget(spec: { readonly [Section in TargetSection]?: unknown }, kind: TargetKind): boolean {
  return Object.entries(SECTION_TARGETS).every(
    ([section, kinds]: readonly [string, readonly TargetKind[]]) =>
      spec[section as TargetSection] === undefined || kinds.includes(kind),
  )
}

export interface Target {
  readonly group: string
  readonly kind: string
  readonly sectionName?: string
}

/** Checks that each target has a known kind, that all targets of a list have the same kind, and that sections of Services are ports. */
export function checkTargets(targets: readonly Target[], path: string): readonly ConfigProblem[] {
  const found = targets.flatMap((target, index) => checkTarget(target, itemPath(path, index)))
  const first = targets[0]
  const other = targets.findIndex((target) => target.kind !== first?.kind)
  if (other < 0) return found
  const message = `all targets of a policy must have the same kind; the first is of kind ${first?.kind}`
  return [...found, problem(fieldPath(itemPath(path, other), 'kind'), 'target-kinds-mixed', message)]
}

function checkTarget(target: Target, path: string): readonly ConfigProblem[] {
  const group = isTargetKind(target.kind) ? TARGET_GROUPS[target.kind] : undefined
  if (group === undefined) return [problem(fieldPath(path, 'kind'), 'target-not-allowed', unknownTarget(target.kind))]
  if (group !== target.group) {
    const message = group === '' ? 'must be empty for kind Service' : `must be "${group}" for kind ${target.kind}`
    return [problem(fieldPath(path, 'group'), 'target-not-allowed', message)]
  }
  return checkServiceSection(target, path)
}

/** Whether policies can target objects of a kind. */
export function isTargetKind(kind: string): kind is TargetKind {
  return Object.hasOwn(TARGET_GROUPS, kind)
}

function unknownTarget(kind: string): string {
  const known = `must be one of ${Object.keys(TARGET_GROUPS).join(', ')}`
  if (kind === 'TCPRoute' || kind === 'TLSRoute')
    return `${known}; target the Gateway or the backend of the ${kind} instead`
  return known
}

/** Whether a policy can target `target`, for API servers. */
export const TARGETS_ON_SERVER = Object.entries(TARGET_GROUPS)
  .map(([kind, group]) => `target.kind == '${kind}' && target.group == '${group}'`)
  .join(' || ')

/** Whether the section of a Service is the number of a port, for API servers. */
export const PORT_ON_SERVER = "target.sectionName.matches('^[1-9][0-9]{0,4}$') && int(target.sectionName) <= 65535"

function checkServiceSection({ kind, sectionName: section }: Target, path: string): readonly ConfigProblem[] {
  if (kind !== 'Service' || section === undefined) return []
  const port = Number(section)
  if (/^[1-9]\d{0,4}$/.test(section) && port <= 65_535) return []
  const message = 'must be a port number from 1 to 65535 for a Service'
  return [problem(fieldPath(path, 'sectionName'), 'invalid-section-name', message)]
}
