import type { ConfigProblem } from '#base/config-problem.ts'
import type { Origin } from '#base/origin.ts'
import { validate } from '#schema/index.ts'
import { apiVersionOf, type KindInfo } from './kinds.ts'
import type { ApiObject } from './object.ts'

/** An invalid route for requests. Without an earlier valid version, the requests that it matches are refused (decision A-09). */
export interface RefusedRoute {
  readonly origin: Origin
  /** Has the readable parents, hostnames and matches of the route, and nothing else; undefined if no rule is readable. */
  readonly standIn: ApiObject | undefined
  /** The stand-in matches every request that the route matches. */
  readonly isComplete: boolean
}

/** A stand-in as it would be written, and whether all parents, hostnames and matches of the route are in it. */
interface ReadRoute {
  readonly value: object | undefined
  readonly isComplete: boolean
}

type Members = Readonly<Record<string, unknown>>

/**
 * Reads what an invalid route matches, so that its requests do not reach a less specific route with other policies.
 * @param info the kind that is meant: the written kind or API version may be misspelt
 * @returns undefined for other kinds
 */
export function readRefusedRoute(written: unknown, info: KindInfo): ReadRoute | undefined {
  const { kind, schema } = info
  if (kind !== 'HTTPRoute' && kind !== 'GRPCRoute') return undefined
  const apiVersion = apiVersionOf(info)
  const { metadata, spec: writtenSpec } = membersOf(written)
  const { name, namespace, labels } = membersOf(metadata)
  const whole = (spec: object, meta: object) => ({ apiVersion, kind, metadata: meta, spec })
  const isValid = (spec: object, meta: object = { name }): boolean => {
    const { problems, tolerated } = validate(schema, whole(spec, meta))
    return problems.length === 0 && tolerated.length === 0
  }
  const spec = membersOf(writtenSpec)
  const parentRefs = readList(spec.parentRefs, (ref) => isValid({ parentRefs: [ref] }))
  const hostnames = readList(spec.hostnames, (host) => isValid({ hostnames: [host] }))
  const rules = readList(spec.rules, () => true)
  const readRules = (rules.read ?? []).map((rule) => {
    const { name: ruleName, matches } = membersOf(rule)
    const read = readList(matches, (match) => isValid({ rules: [{ matches: [match] }] }))
    const titled = ruleName !== undefined && isValid({ rules: [{ name: ruleName }] }) ? { name: ruleName } : {}
    return { ...read, rule: read.read === undefined ? titled : { ...titled, matches: read.read } }
  })
  const isComplete = [parentRefs, hostnames, rules, ...readRules].every((list) => list.isComplete)
  const readable = readRules.filter(({ read }) => read === undefined || read.length > 0).map(({ rule }) => rule)
  // Without hostnames or matches it would match everything.
  const isNothing = hostnames.read?.length === 0 || (rules.read !== undefined && readable.length === 0)
  if (isNothing) return { value: undefined, isComplete: false }
  const named = withoutUndefined({ name, namespace })
  const labelled = withoutUndefined({ name, namespace, labels })
  const meta = isValid({}, labelled) ? labelled : named
  const standIn = {
    parentRefs: parentRefs.read,
    hostnames: hostnames.read,
    rules: rules.read === undefined ? undefined : readable,
  }
  const { value } = validate(schema, whole(withoutUndefined(standIn), meta))
  return { value: value as object | undefined, isComplete: isComplete && value !== undefined }
}

/**
 * A route for requests that is not in use because another object has its name. It refuses the requests that it matches, so that they do not
 * reach a less specific route with other policies.
 * @param position among the objects of the name in files, from 1, or `api`; the stand-in has a name of its own, which no object can have
 * @returns undefined for other kinds, and for a copy of the object in use
 */
export function standInForDuplicate(
  object: ApiObject,
  inUse: ApiObject,
  position: number | 'api',
): ApiObject | undefined {
  if (object.kind !== 'HTTPRoute' && object.kind !== 'GRPCRoute') return undefined
  if (JSON.stringify(object.spec) === JSON.stringify(inUse.spec)) return undefined
  const name = `${object.metadata.name}@${position}`
  return { ...object, metadata: { ...object.metadata, name }, refusal: 'duplicate' }
}

/** A stand-in for a valid route for requests that cannot be translated. It has its parents, hostnames and matches, and a name that no object can have. */
export function standInForUntranslated(object: ApiObject): ApiObject {
  const { parentRefs, hostnames, rules } = membersOf(object.spec)
  const matching = Array.isArray(rules) ? rules.map(({ matches }: Members) => withoutUndefined({ matches })) : undefined
  return {
    ...object,
    metadata: { ...object.metadata, name: `${object.metadata.name}@untranslated` },
    spec: withoutUndefined({ parentRefs, hostnames, rules: matching }),
    refusal: 'untranslated',
  }
}

/** Whether an object is used without unknown fields in which it may ask for authorization: a misspelt `filters`, or a field of `externalAuth`. */
export function losesProtection(written: unknown, tolerated: readonly ConfigProblem[]): boolean {
  return tolerated.some(
    ({ path }) => path.split('.').includes('externalAuth') || asksForAuthorization(valueAt(written, path)),
  )
}

function asksForAuthorization(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, member]) => name === 'externalAuth' || asksForAuthorization(member))
}

function valueAt(value: unknown, path: string): unknown {
  return path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce((at: unknown, step) => (at as Members | null | undefined)?.[step], value)
}

/** The readable items of a list; undefined if the list is not set. */
function readList(
  value: unknown,
  isReadable: (item: unknown) => boolean,
): { readonly read: readonly unknown[] | undefined; readonly isComplete: boolean } {
  if (value === undefined) return { read: undefined, isComplete: true }
  if (!Array.isArray(value)) return { read: [], isComplete: false }
  const read = value.filter(isReadable)
  return { read, isComplete: read.length === value.length }
}

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}
