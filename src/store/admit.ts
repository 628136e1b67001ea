import { findKind, type KindInfo } from '#api/kinds.ts'
import { findMistakenFields } from '#api/mistaken-fields.ts'
import type { ApiObject } from '#api/object.ts'
import type { ObjectMeta } from '#api/object-meta.ts'
import { type RefusedPolicy, readRefusedPolicy } from '#api/refused-policy.ts'
import { losesProtection, type RefusedRoute, readRefusedRoute } from '#api/refused-route.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import { problem, validate } from '#schema/index.ts'

/** Metadata that nothing reads in an object, wherever it is from. */
const UNREAD_FIELDS = ['managedFields', 'resourceVersion', 'selfLink']
/** Metadata that a server sets; in a file they have no effect. */
const SERVER_FIELDS = [
  ...UNREAD_FIELDS,
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
]

/** The result of checking an object, before its problems have positions. */
export interface CheckResult {
  readonly object?: ApiObject
  readonly name?: ObjectName
  readonly partial?: PartialName
  readonly policy?: RefusedPolicy
  /** Of an invalid route for requests. */
  readonly route?: RefusedRoute
  readonly problems: readonly ConfigProblem[]
}

export interface ObjectName {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** The identity of an object whose kind or name is unknown. */
export type PartialName = Partial<ObjectName>

export interface Admission {
  readonly info: KindInfo
  /** Where the object is written; undefined: it is from the API. */
  readonly place: { readonly file: string; readonly line: number } | undefined
}

/** Decides whether an object can be in force, with its defaults. Of an invalid one, finds out what it protects (decision A-09). */
export function admit(written: unknown, admission: Admission): CheckResult {
  const { info, place } = admission
  const { value, problems, tolerated } = validate(info.schema, written, { fromFile: place !== undefined })
  const wrongNames = nameProblems(written, info)
  const found = [...problems, ...tolerated, ...wrongNames]
  const name = nameOf(written, info)
  if (name === undefined) return { ...identityOf(written), ...refusedPolicyOf(written), problems: found }
  const meant = meantBy(written, admission, tolerated)
  if (value === undefined || wrongNames.length > 0 || meant !== undefined || losesProtection(written, tolerated)) {
    return { name, ...refusedPolicyOf(written), ...refusedRouteOf(meant ?? written, name, admission), problems: found }
  }
  return { object: storedObject(value as object, name, admission), problems: found }
}

/**
 * What an object in a file means, if it has fields that are certainly mistakes, so that it is invalid. Undefined: it has none, or an API stores it,
 * whose clients decide about unknown fields.
 */
function meantBy(written: unknown, { info, place }: Admission, tolerated: readonly ConfigProblem[]): unknown {
  if (place === undefined || tolerated.length === 0) return undefined
  return findMistakenFields(info, written)?.meant
}

export function refusedRouteOf(written: unknown, name: ObjectName, admission: Admission): Pick<CheckResult, 'route'> {
  const read = readRefusedRoute(written, admission.info)
  if (read === undefined) return {}
  const { value, isComplete } = read
  const standIn =
    value === undefined ? undefined : { ...storedObject(value, name, admission), refusal: 'never-valid' as const }
  return { route: { origin: name, standIn, isComplete } }
}

/** @param value a validated value, with its defaults */
function storedObject(value: object, name: ObjectName, { info, place }: Admission): ApiObject {
  const { status, ...rest } = value as Record<string, unknown> & { metadata: ObjectMeta; status?: unknown }
  const metadata: Record<string, unknown> = { ...rest.metadata }
  for (const field of place === undefined ? UNREAD_FIELDS : SERVER_FIELDS) {
    if (Object.hasOwn(metadata, field)) delete metadata[field]
  }
  // In a file, the first generation; the store increments it. In a file, a status of ours is that of another gateway, or an old one.
  const generation = (place === undefined ? rest.metadata.generation : undefined) ?? 1
  const keepsStatus = status !== undefined && (place === undefined || !info.statusIsOurs)
  return {
    ...rest,
    ...(keepsStatus ? { status } : {}),
    metadata: { ...metadata, name: name.name, namespace: name.namespace, generation },
    origin: { ...name, ...place, generation },
  } as unknown as ApiObject
}

function nameProblems(value: unknown, info: KindInfo): readonly ConfigProblem[] {
  const metadata = metadataOf(value)
  const found: ConfigProblem[] = []
  if (metadata !== undefined && (metadata.name ?? undefined) === undefined) {
    found.push(problem('metadata.name', 'required', 'is required in a file'))
  }
  if (!info.namespaced && typeof metadata?.namespace === 'string') {
    const message = `is not allowed on a ${info.kind}, which is cluster-scoped`
    found.push(problem('metadata.namespace', 'invalid-namespace', message))
  }
  return found
}

export function nameOf(value: unknown, info: KindInfo): ObjectName | undefined {
  const { name, namespace = 'default' } = metadataOf(value) ?? {}
  if (typeof name !== 'string') return undefined
  if (!info.namespaced) return { kind: info.kind, namespace: '', name }
  return { kind: info.kind, namespace: typeof namespace === 'string' ? namespace : 'default', name }
}

/** What is known of the identity of an invalid object. */
export function identityOf(value: unknown): Pick<CheckResult, 'name' | 'partial'> {
  const { kind } = value as { kind?: unknown }
  const info = typeof kind === 'string' ? findKind(kind) : undefined
  const whole = info === undefined ? undefined : nameOf(value, info)
  if (whole !== undefined) return { name: whole }
  const { name, namespace } = metadataOf(value) ?? {}
  return {
    partial: {
      ...(info === undefined ? {} : { kind: info.kind }),
      ...(typeof namespace === 'string' ? { namespace } : {}),
      ...(typeof name === 'string' ? { name } : {}),
    },
  }
}

function metadataOf(value: unknown): Record<string, unknown> | undefined {
  const metadata = (value as { metadata?: unknown }).metadata
  return typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : undefined
}
/** @param meant the kind that the object has without its mistake */
export function refusedPolicyOf(value: unknown, meant?: KindInfo): Pick<CheckResult, 'policy'> {
  const policy = readRefusedPolicy(value, meant?.kind)
  return policy === undefined ? {} : { policy }
}
