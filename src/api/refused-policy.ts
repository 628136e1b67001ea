import { compareText } from '#base/compare-text.ts'
import type { Origin } from '#base/origin.ts'
import { nodeOf, type TSchema, validate } from '#schema/index.ts'
import { backendTlsTarget } from './backend-tls-policy.ts'
import { OWN_GROUP } from './groups.ts'
import { findKind } from './kinds.ts'
import type { ApiObject } from './object.ts'
import { type PolicySection, policyDefinition } from './policy-fields.ts'
import {
  checkTargets,
  isTargetKind,
  type PolicyTargetReference,
  type PolicyTargetSelector,
  policyTargetReference,
  policyTargetSelector,
  SECTION_TARGETS,
  type Target,
} from './policy-targets.ts'

/** What is known of an invalid policy. Without an earlier valid version, its targets refuse if it protects them (decision A-09). */
export interface RefusedPolicy {
  readonly origin: Origin
  /** The targets that are readable, also those with a mistake in another member. */
  readonly targetRefs: readonly PolicyTargetReference[]
  readonly targetSelectors: readonly PolicyTargetSelector[]
  /** These lists have all targets, and no entry has a mistake that may stand for another target. */
  readonly targetsKnown: boolean
  /** Paths of fields that protect the targets, and of unknown ones, which may be such fields; empty: the targets need not refuse. */
  readonly protects: readonly string[]
}

type Members = Readonly<Record<string, unknown>>

/**
 * Reads an invalid object that is a policy, or may be one with a mistake in its kind or API version.
 * @param meant the kind that it has without a mistake, if that is certain
 * @returns undefined if it is no policy
 */
export function readRefusedPolicy(value: unknown, meant?: string): RefusedPolicy | undefined {
  const members = membersOf(value)
  if (members === undefined) return undefined
  const object = meant === undefined ? members : { ...members, kind: meant }
  const spec = membersOf(object.spec)
  const kind = policyKind(object, spec)
  if (kind === undefined) return undefined
  const refs = readList(spec?.targetRefs, (entry) => readReference(entry, kind))
  const selectors = readList(spec?.targetSelectors, readSelector)
  const isSet = spec?.targetRefs !== undefined || spec?.targetSelectors !== undefined
  const metadata = membersOf(object.metadata)
  const { namespace = 'default', name = '?' } = { namespace: textOf(metadata?.namespace), name: textOf(metadata?.name) }
  return {
    origin: { kind, namespace, name },
    targetRefs: refs.read,
    targetSelectors: selectors.read,
    targetsKnown: isSet && refs.complete && selectors.complete,
    protects: kind === 'BackendTLSPolicy' ? ['spec'] : protectingFields(object, spec),
  }
}

/** A valid policy that is not in force. @returns undefined if it protects nothing */
export function readUntranslatedPolicy(object: ApiObject): RefusedPolicy | undefined {
  const policy = readRefusedPolicy(written(object))
  return policy === undefined || policy.protects.length === 0 ? undefined : { ...policy, origin: object.origin }
}

/**
 * A policy that is not in force because another object has its name. Like an edit that is refused, it changes nothing where the other one
 * sets the fields by which it protects.
 * @returns undefined if it protects nothing else
 */
export function readDisplacedPolicy(object: ApiObject, inForce: ApiObject): RefusedPolicy | undefined {
  const policy = readUntranslatedPolicy(object)
  if (policy === undefined) return undefined
  const other = readRefusedPolicy(written(inForce))
  const isCovered = policy.protects.every((path) => other?.protects.includes(path))
  const covered = new Set(isCovered ? [...other!.targetRefs, ...other!.targetSelectors].map(textOfTarget) : [])
  const targetRefs = policy.targetRefs.filter((target) => !covered.has(textOfTarget(target)))
  const targetSelectors = policy.targetSelectors.filter((target) => !covered.has(textOfTarget(target)))
  if (targetRefs.length + targetSelectors.length === 0) return undefined
  return { ...policy, targetRefs, targetSelectors }
}

/** The members that a file can have. */
function written({ apiVersion, kind, metadata, spec }: ApiObject): Members {
  return { apiVersion, kind, metadata, spec }
}

function textOfTarget(target: PolicyTargetReference | PolicyTargetSelector): string {
  return JSON.stringify(Object.entries(target).toSorted(([a], [b]) => compareText(a, b)))
}

/** Only policies have targets, so an object of our group with targets and an unknown kind is a misspelt ProxyPolicy. */
function policyKind(
  { apiVersion, kind }: Members,
  spec: Members | undefined,
): 'ProxyPolicy' | 'BackendTLSPolicy' | undefined {
  if (kind === 'ProxyPolicy' || kind === 'BackendTLSPolicy') return kind
  if (typeof kind === 'string' && findKind(kind) !== undefined) return undefined
  const isOurs = apiVersion === undefined || `${apiVersion}`.startsWith(`${OWN_GROUP}/`)
  const hasTargets = spec?.targetRefs !== undefined || spec?.targetSelectors !== undefined
  return isOurs && hasTargets ? 'ProxyPolicy' : undefined
}

const SECTIONS = Object.keys(SECTION_TARGETS) as PolicySection[]
const PLAIN_MEMBERS: readonly string[] = ['apiVersion', 'kind', 'metadata', 'spec', 'status']
const PLAIN_FIELDS: readonly string[] = ['targetRefs', 'targetSelectors', ...SECTIONS]

function protectingFields(object: Members, spec: Members | undefined): readonly string[] {
  return [
    ...Object.keys(object).filter((name) => !PLAIN_MEMBERS.includes(name)),
    ...Object.keys(spec ?? {})
      .filter((name) => !PLAIN_FIELDS.includes(name))
      .map((name) => `spec.${name}`),
    ...protectingSettings(spec ?? {}),
  ]
}

/** Paths of the settings of a policy that protect its targets. */
export function protectingSettings(spec: { readonly [Section in PolicySection]?: unknown }): readonly string[] {
  return SECTIONS.flatMap((section) => protectingIn(section, spec[section]))
}

function protectingIn(section: PolicySection, value: unknown): readonly string[] {
  const path = `spec.${section}`
  if (value === undefined || value === null) return []
  const fields = membersOf(value)
  if (fields === undefined) return [path]
  return Object.entries(fields).flatMap(([field, member]) => {
    if (section === 'traffic' && field === 'phase') return []
    return protectingParts(section, field, member).map((part) => `${path}.${part}`)
  })
}

/** The field if it protects, or its members that do. */
function protectingParts(section: PolicySection, field: string, value: unknown): readonly string[] {
  const { schema, protects = [] } = policyDefinition(section, field) ?? {}
  if (schema === undefined || protects === true) return [field]
  if (protects.length === 0) return []
  const members = membersOf(value)
  if (members === undefined) return [field]
  const { properties = {} } = nodeOf(schema)
  return Object.keys(members)
    .filter((name) => protects.includes(name) || !Object.hasOwn(properties, name))
    .map((name) => `${field}.${name}`)
}

/** A target that the text may mean, and whether it says so without mistakes: a wrong member may stand for another target. */
interface ReadTarget<T> {
  readonly target: T | undefined
  readonly isCertain: boolean
}

function readReference(entry: Members, policy: string): ReadTarget<PolicyTargetReference> {
  const { group, kind, name, sectionName } = entry
  if (typeof kind !== 'string' || !isTargetKind(kind) || typeof name !== 'string') return UNREADABLE
  const isOwn = policy === 'ProxyPolicy'
  const reference = { group: textOf(group) ?? '', kind, name }
  return {
    // A BackendTLSPolicy names ports of Services otherwise, so the whole Service refuses.
    target: isOwn && typeof sectionName === 'string' ? { ...reference, sectionName } : reference,
    isCertain: isOwn ? isTarget(policyTargetReference, entry) : isValid(backendTlsTarget, entry),
  }
}

function readSelector(entry: Members): ReadTarget<PolicyTargetSelector> {
  const { group, kind, matchLabels, sectionName } = entry
  const labels = Object.entries(membersOf(matchLabels) ?? { '': undefined })
  if (typeof kind !== 'string' || !isTargetKind(kind)) return UNREADABLE
  if (!labels.every(([, label]) => typeof label === 'string')) return UNREADABLE
  const selector = { group: textOf(group) ?? '', kind, matchLabels: matchLabels as Readonly<Record<string, string>> }
  return {
    target: typeof sectionName === 'string' ? { ...selector, sectionName } : selector,
    isCertain: isTarget(policyTargetSelector, entry),
  }
}

const UNREADABLE = { target: undefined, isCertain: false } as const

function isTarget(schema: typeof policyTargetReference | typeof policyTargetSelector, entry: Members): boolean {
  return isValid(schema, entry) && checkTargets([entry as unknown as Target], '').length === 0
}

function isValid(schema: TSchema, entry: Members): boolean {
  const { problems, tolerated } = validate(schema, entry)
  return problems.length === 0 && tolerated.length === 0
}

function readList<T>(
  value: unknown,
  read: (entry: Members) => ReadTarget<T>,
): { readonly read: readonly T[]; readonly complete: boolean } {
  if (value === undefined) return { read: [], complete: true }
  if (!Array.isArray(value)) return { read: [], complete: false }
  const entries = value.map((entry) => read(membersOf(entry) ?? {}))
  return {
    read: entries.flatMap(({ target }) => target ?? []),
    complete: entries.length > 0 && entries.every(({ isCertain }) => isCertain),
  }
}

function membersOf(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
