import type { GRPCRouteObject } from '#api/grpc-route.ts'
import type { HTTPRouteObject } from '#api/http-route.ts'
import type { PathModifierSpec } from '#api/route-filters.ts'
import { toByteText } from '#base/byte-text.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import { parseDuration } from '#base/duration.ts'
import { describePatternFault } from '#base/pattern.ts'
import { isFieldName, isFieldValue } from '#net/http/field-syntax.ts'
import type { ConditionFault } from '../context/condition.ts'

/** A part of a rule that cannot work. The other parts of the rule are served. */
export type RuleFault = ConditionFault & Pick<ConfigProblem, 'code' | 'path'>

type RequestRule = NonNullable<(HTTPRouteObject | GRPCRouteObject)['spec']['rules']>[number]
type HttpRule = HTTPRouteObject['spec']['rules'][number]
type Match = NonNullable<RequestRule['matches']>[number]

const UNSUPPORTED = 'UnsupportedValue'
const INCOMPATIBLE = 'IncompatibleFilters'

/** Finds combinations in a rule that the Gateway API excludes, and patterns that match nothing. @param path field path of the rule */
export function checkRule(rule: RequestRule, path: string): readonly RuleFault[] {
  const matches: readonly Match[] = rule.matches ?? []
  return [
    ...matches.flatMap((match, index) => checkPatterns(match, `${path}.matches[${index}]`)),
    ...checkRedirect(rule, path),
    ...checkTimeouts(rule as HttpRule, path),
    ...checkFilters(rule, path),
  ]
}

/** Finds values of filters that cannot work. @param rule the filters of a rule or of one of its backendRefs, with the matches of the rule */
export function checkFilters(rule: Pick<RequestRule, 'filters' | 'matches'>, path: string): readonly RuleFault[] {
  return [
    ...checkPrefixReplacements(rule as HttpRule, path),
    ...checkRepeatedModifiers(rule, path),
    ...checkHeaders(rule, path),
    ...checkCors(rule as HttpRule, path),
  ]
}

/** Names of rules are sections, which policies target. @returns one fault for each name that an earlier rule has */
export function checkRuleNames(rules: readonly { readonly name?: string }[]): readonly RuleFault[] {
  return rules.flatMap(({ name }, index) => {
    const first = name === undefined ? index : rules.findIndex((other) => other.name === name)
    if (first === index) return []
    const message = `rule ${first} has the same name; policies that target this section apply to both`
    return [{ path: `spec.rules[${index}].name`, code: 'duplicate', reason: UNSUPPORTED, message } as const]
  })
}

const MAX_MATCHES = 128

/** API servers refuse a route with more matches (Gateway API, HTTPRouteSpec and GRPCRouteSpec). */
export function checkMatchCount(rules: readonly RequestRule[]): readonly RuleFault[] {
  const count = rules.reduce((sum, { matches = [] }) => sum + matches.length, 0)
  if (count <= MAX_MATCHES) return []
  const message = `the rules of a route must have at most ${MAX_MATCHES} matches together; they have ${count}`
  return [{ path: 'spec.rules', code: 'too-many-items', reason: UNSUPPORTED, message }]
}

/** A longer limit for one attempt has no effect (Gateway API, HTTPRouteTimeouts). */
function checkTimeouts({ timeouts = {} }: Pick<HttpRule, 'timeouts'>, path: string): readonly RuleFault[] {
  const { request, backendRequest } = timeouts
  if (request === undefined || backendRequest === undefined) return []
  const wholeMs = parseDuration(request)!
  if (wholeMs === 0 || parseDuration(backendRequest)! <= wholeMs) return []
  const message = `must not be longer than request, ${request}, which ends the attempt`
  return [{ path: `${path}.timeouts.backendRequest`, code: 'inconsistent', reason: UNSUPPORTED, message }]
}

/** Every other filter that occurs twice is found when filters are read; these two can be joined. */
const MODIFIERS = ['RequestHeaderModifier', 'ResponseHeaderModifier']

function checkRepeatedModifiers({ filters = [] }: Pick<RequestRule, 'filters'>, path: string): readonly RuleFault[] {
  const types = filters.map(({ type }): string => type)
  return types.flatMap((type, index) => {
    const first = types.indexOf(type)
    if (first === index || !MODIFIERS.includes(type)) return []
    const message = `filter ${first} has the same type; write its headers and these in one filter`
    return [
      { path: `${path}.filters[${index}].type`, code: 'filters-incompatible', reason: INCOMPATIBLE, message } as const,
    ]
  })
}

/** A match with an invalid pattern never matches. */
function checkPatterns(match: Match, path: string): readonly RuleFault[] {
  const patterns: { readonly at: string; readonly pattern: string | undefined }[] = []
  if ('path' in match && match.path.type === 'RegularExpression')
    patterns.push({ at: 'path.value', pattern: match.path.value })
  for (const field of ['headers', 'queryParams'] as const) {
    const values = (match as HttpRule['matches'][number])[field] ?? []
    for (const [index, { type, value }] of values.entries())
      if (type === 'RegularExpression') patterns.push({ at: `${field}[${index}].value`, pattern: value })
  }
  const { method } = match
  if (typeof method === 'object' && method.type === 'RegularExpression') {
    patterns.push({ at: 'method.service', pattern: method.service }, { at: 'method.method', pattern: method.method })
  }
  return patterns.flatMap(({ at, pattern }) => {
    const fault = pattern === undefined ? undefined : describePatternFault(pattern)
    if (fault === undefined) return []
    const message = `must be a regular expression in RE2 syntax, but ${fault}. This match matches no request`
    return [{ path: `${path}.${at}`, code: 'invalid-pattern', reason: UNSUPPORTED, message } as const]
  })
}

/** Only a PathPrefix match has a prefix that can be replaced; requests of other matches are refused (Gateway API, HTTPPathModifier). */
function checkPrefixReplacements({ filters = [], matches }: HttpRule, path: string): readonly RuleFault[] {
  const other = matches?.findIndex((match) => match.path?.type !== 'PathPrefix') ?? -1
  const isSingle = other < 0 && matches?.length === 1
  if (isSingle) return []
  return filters.flatMap((filter, index) => {
    const at = filter.urlRewrite === undefined ? 'requestRedirect' : 'urlRewrite'
    const modifier: PathModifierSpec | undefined = filter[at]?.path
    if (modifier?.type !== 'ReplacePrefixMatch') return []
    const message =
      other < 0
        ? 'ReplacePrefixMatch requires exactly one match; write a rule for each prefix'
        : `ReplacePrefixMatch requires matches of type PathPrefix; requests that match matches[${other}] are refused`
    const code = 'filters-incompatible'
    return [{ path: `${path}.filters[${index}].${at}.path.type`, code, reason: INCOMPATIBLE, message } as const]
  })
}

function checkRedirect({ filters = [], backendRefs = [] }: RequestRule, path: string): readonly RuleFault[] {
  if (backendRefs.length === 0 || !filters.some(({ type }) => type === 'RequestRedirect')) return []
  const message = 'a rule that redirects cannot have backendRefs; every request is redirected'
  return [{ path: `${path}.backendRefs`, code: 'filters-incompatible', reason: INCOMPATIBLE, message }]
}

/** Header names to remove, and values to set, that no message can contain. */
function checkHeaders({ filters = [] }: Pick<RequestRule, 'filters'>, path: string): readonly RuleFault[] {
  const fault = (at: string, message: string) =>
    ({ path: at, code: 'header-invalid', reason: UNSUPPORTED, message }) as const
  return filters.flatMap((filter, index) =>
    (['requestHeaderModifier', 'responseHeaderModifier'] as const).flatMap((field) => {
      const { set = [], add = [], remove = [] } = filter[field] ?? {}
      const at = `${path}.filters[${index}].${field}`
      const values = Object.entries({ set, add }).flatMap(([list, headers]) =>
        headers.flatMap(({ value }, i) =>
          isFieldValue(toByteText(value))
            ? []
            : [fault(`${at}.${list}[${i}].value`, 'has characters that no header can contain')],
        ),
      )
      const names = remove.flatMap((name, i) =>
        isFieldName(name) ? [] : [fault(`${at}.remove[${i}]`, 'is not a valid header name')],
      )
      return [...values, ...names]
    }),
  )
}

const ANY = '*'

/** Methods and header names of a CORS filter that no request can have, and items beside `*` (Gateway API, HTTPCORSFilter). */
function checkCors({ filters = [] }: HttpRule, path: string): readonly RuleFault[] {
  return filters.flatMap(({ cors }, index) => {
    const { allowOrigins = [], allowMethods = [], allowHeaders = [], exposeHeaders = [] } = cors ?? {}
    const at = `${path}.filters[${index}].cors`
    const crowded = Object.entries({ allowOrigins, allowMethods, allowHeaders }).flatMap(([field, list]) => {
      const any = list.indexOf(ANY)
      if (any < 0 || list.length === 1) return []
      const message = `${ANY} must be the only item; it allows everything that the others allow`
      return [{ path: `${at}.${field}[${any}]`, code: 'filter-value', reason: UNSUPPORTED, message } as const]
    })
    const names = Object.entries({ allowMethods, allowHeaders, exposeHeaders })
    const invalid = names.flatMap(([field, list]) =>
      list.flatMap((name, i) => {
        if (name === ANY || isFieldName(name)) return []
        const message = `is not the name of a ${field === 'allowMethods' ? 'method' : 'header'}`
        return [{ path: `${at}.${field}[${i}]`, code: 'filter-value', reason: UNSUPPORTED, message } as const]
      }),
    )
    return [...crowded, ...invalid]
  })
}
