import { GRPC_FILTER_TYPES, HTTP_FILTER_TYPES, type HttpRouteFilterSpec } from '#api/route-filters.ts'
import type { FindingCode } from '#base/findings.ts'
import { suggest } from '#base/suggest.ts'
import type { RuleFault } from './check-rules.ts'
import type { RequestRouteObject } from './route-object.ts'

type HeaderFilter = NonNullable<HttpRouteFilterSpec['requestHeaderModifier']>

/** A field of `traffic` that the filters of a rule set. */
export interface FilterField {
  readonly field: 'headerModifiers' | 'cors' | 'urlRewrite' | 'requestRedirect'
  readonly spec: unknown
  /** Path of the first filter that sets the field. */
  readonly path: string
}

export interface MirrorFilter {
  readonly filter: NonNullable<HttpRouteFilterSpec['requestMirror']>
  readonly path: string
}

const UNSUPPORTED = 'UnsupportedValue'

export interface ExternalAuthFilter {
  readonly filter: NonNullable<HttpRouteFilterSpec['externalAuth']>
  readonly path: string
}

export interface RuleFilters {
  readonly fields: readonly FilterField[]
  readonly externalAuth: ExternalAuthFilter | undefined
  readonly mirrors: readonly MirrorFilter[]
  /** They prevent the whole rule from being served. */
  readonly faults: readonly RuleFault[]
}

/**
 * Reads the filters of a rule. Header modifiers for the same direction merge; every other filter may occur once. A filter that is not
 * supported is a fault, because a request must not be forwarded without it (Gateway API, HTTPRouteFilter).
 */
export function readFilters(
  filters: readonly HttpRouteFilterSpec[] = [],
  rulePath: string,
  kind: RequestRouteObject['kind'],
  owner: 'rule' | 'backendRef' = 'rule',
): RuleFilters {
  const types = kind === 'GRPCRoute' ? GRPC_FILTER_TYPES : HTTP_FILTER_TYPES
  const fields = new Map<FilterField['field'], FilterField>()
  const mirrors: MirrorFilter[] = []
  const faults: RuleFault[] = []
  let externalAuth: ExternalAuthFilter | undefined
  const fault = (path: string, code: FindingCode, reason: string, message: string) =>
    void faults.push({ path, code, reason, message })
  const repeated = (path: string, field: string) =>
    fault(path, 'filters-incompatible', 'IncompatibleFilters', `a ${owner} can have only one ${field} filter`)
  const once = (field: FilterField['field'], spec: unknown, path: string) => {
    if (fields.has(field)) repeated(path, field)
    else fields.set(field, { field, spec, path })
  }

  for (const [index, filter] of filters.entries()) {
    const path = `${rulePath}.filters[${index}]`
    if (!types.includes(filter.type)) {
      fault(path, 'filter-value', UNSUPPORTED, unsupportedFilter(filter.type, types))
      continue
    }
    switch (filter.type) {
      case 'RequestHeaderModifier':
        mergeModifier(fields, 'request', filter.requestHeaderModifier, path)
        break
      case 'ResponseHeaderModifier':
        mergeModifier(fields, 'response', filter.responseHeaderModifier, path)
        break
      case 'CORS':
        once('cors', filter.cors, `${path}.cors`)
        break
      case 'URLRewrite':
        once('urlRewrite', filter.urlRewrite, `${path}.urlRewrite`)
        break
      case 'RequestRedirect':
        once('requestRedirect', filter.requestRedirect, `${path}.requestRedirect`)
        break
      case 'RequestMirror':
        if (filter.requestMirror !== undefined) mirrors.push({ filter: filter.requestMirror, path })
        break
      case 'ExternalAuth':
        if (externalAuth !== undefined) repeated(`${path}.externalAuth`, 'externalAuth')
        else externalAuth = { filter: filter.externalAuth!, path: `${path}.externalAuth` }
        break
      default:
        fault(path, 'filter-value', UNSUPPORTED, unsupportedFilter(filter.type, types))
    }
  }
  if (fields.has('urlRewrite') && fields.has('requestRedirect')) {
    const message = `a ${owner} cannot have both a redirect and a rewrite`
    fault(`${rulePath}.filters`, 'filters-incompatible', 'IncompatibleFilters', message)
  }
  return { fields: [...fields.values()], externalAuth, mirrors, faults }
}

/** They decide about requests before a backend is chosen. */
const ONLY_IN_RULES: readonly string[] = ['CORS', 'ExternalAuth']

/** Reads the filters of a `backendRef`. @param ofRule those of its rule, which run first */
export function readBackendRefFilters(
  filters: readonly HttpRouteFilterSpec[] = [],
  path: string,
  kind: RequestRouteObject['kind'],
  ofRule: RuleFilters,
): RuleFilters {
  const read = readFilters(filters, path, kind, 'backendRef')
  const faults = filters.flatMap(({ type, urlRewrite }, index): readonly RuleFault[] => {
    const at = `${path}.filters[${index}]`
    if (ONLY_IN_RULES.includes(type)) {
      const message = `filters of type ${type} are not supported in a backendRef; move it to the rule`
      return [{ path: at, code: 'filter-value', reason: UNSUPPORTED, message }]
    }
    if (urlRewrite?.path?.type !== 'ReplacePrefixMatch' || !rewritesPath(ofRule)) return []
    const message = 'the rule replaces the path that has the matched prefix'
    return [
      { path: `${at}.urlRewrite.path.type`, code: 'filters-incompatible', reason: 'IncompatibleFilters', message },
    ]
  })
  return { ...read, faults: [...read.faults, ...faults] }
}

function rewritesPath({ fields }: RuleFilters): boolean {
  return fields.some(({ field, spec }) => field === 'urlRewrite' && (spec as { path?: unknown }).path !== undefined)
}

interface Modifiers {
  request?: HeaderFilter
  response?: HeaderFilter
}

function mergeModifier(
  fields: Map<FilterField['field'], FilterField>,
  direction: keyof Modifiers,
  added: HeaderFilter = {},
  path: string,
): void {
  const known = fields.get('headerModifiers')
  const modifiers = (known?.spec ?? {}) as Modifiers
  const spec = { ...modifiers, [direction]: joinModifiers(modifiers[direction] ?? {}, added) }
  fields.set('headerModifiers', { field: 'headerModifiers', spec, path: known?.path ?? path })
}

function joinModifiers(a: HeaderFilter, b: HeaderFilter): HeaderFilter {
  const joined: { set?: HeaderFilter['set']; add?: HeaderFilter['add']; remove?: HeaderFilter['remove'] } = {}
  if (a.set ?? b.set) joined.set = [...(a.set ?? []), ...(b.set ?? [])]
  if (a.add ?? b.add) joined.add = [...(a.add ?? []), ...(b.add ?? [])]
  if (a.remove ?? b.remove) joined.remove = [...(a.remove ?? []), ...(b.remove ?? [])]
  return joined as HeaderFilter
}

function unsupportedFilter(type: string, types: readonly string[]): string {
  const nearest = types.includes(type) ? undefined : suggest(type, types)
  const advice = nearest === undefined ? 'use a ProxyPolicy' : `did you mean "${nearest}"?`
  return `filters of type ${type} are not supported; ${advice}`
}
