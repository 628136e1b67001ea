import { compareText } from '#base/compare-text.ts'
import type { RouteType } from '../policy-schema.ts'
import { foldCase, lenientPaths, suffixPath, suffixPathOf } from './suffix-path.ts'

/** Route types whose body the gateway reads and may change; each is a format. */
export type ClientFormat = 'Completions' | 'Messages' | 'Responses' | 'Embeddings' | 'MessagesTokenCount'

/** Whether clients of a format read errors and fields as those of the messages API. */
export function isMessagesFormat(type: RouteType): boolean {
  return type === 'Messages' || type === 'MessagesTokenCount'
}

export interface RouteSuffix {
  /** As configured. */
  readonly key: string
  readonly suffix: string
  readonly type: RouteType
}

/** Suffixes in the order in which they are tested. */
export interface RouteTypes {
  readonly suffixes: readonly RouteSuffix[]
  /** Type of `*`; undefined: paths without a suffix are refused. */
  readonly otherwise: RouteType | undefined
  /** Nothing is configured, so everything is Completions. */
  readonly unset: boolean
}

/**
 * Longest suffix first, ties in byte order, `*` last; an empty map counts as unset (decisions B01, B03). Suffixes are compared in the
 * form of `suffixPath`.
 */
export function compileRouteTypes(routes: Readonly<Record<string, RouteType>> | undefined): RouteTypes {
  const suffixes = Object.entries(routes ?? {})
    .filter(([key]) => key !== '*')
    .map(([key, type]) => ({ key, suffix: suffixPath(key), type }))
    .sort((one, other) => other.suffix.length - one.suffix.length || compareText(one.suffix, other.suffix))
  const otherwise = routes?.['*']
  const unset = suffixes.length === 0 && otherwise === undefined
  return { suffixes, otherwise: unset ? 'Completions' : otherwise, unset }
}

/**
 * The route type of a request, by its path after rewrites. If only `*` or nothing matches, by the path that the client sent, so that a
 * prefix rewrite does not turn messages traffic into Completions (decision B02).
 * @param target current request target (path and query)
 * @param originalTarget request target as received
 * @returns undefined: `routes` is set, and nothing matches
 */
export function resolveRouteType(routes: RouteTypes, target: string, originalTarget: string): RouteType | undefined {
  const { suffixes } = routes
  if (suffixes.length === 0) return routes.otherwise
  const type = matchSuffix(suffixes, target)
  if (type !== undefined) return type
  const original = target === originalTarget ? undefined : matchSuffix(suffixes, originalTarget)
  return original ?? routes.otherwise
}

/** The type of a path that no suffix matches, for a provider that reads it leniently (`lenientPaths`). */
export function lenientRouteType({ suffixes }: RouteTypes, target: string): RouteType | undefined {
  const paths = lenientPaths(suffixPathOf(target))
  for (const { suffix, type } of suffixes) if (paths.some((path) => path.endsWith(foldCase(suffix)))) return type
  return undefined
}

function matchSuffix(suffixes: RouteTypes['suffixes'], target: string): RouteType | undefined {
  const path = suffixPathOf(target)
  for (const { suffix, type } of suffixes) if (path.endsWith(suffix)) return type
  return undefined
}

/**
 * Where clients that have a list of models send their requests: the target of the list with the suffixes of the formats in place of its own.
 * @param target of a request for a list, as received
 */
export function modelTargets({ suffixes }: RouteTypes, target: string): readonly string[] {
  const path = suffixPathOf(target)
  const own = suffixes.find(({ suffix }) => path.endsWith(suffix))
  const base = own?.type === 'Models' ? path.slice(0, path.length - own.suffix.length) : undefined
  const formats = suffixes.filter(({ type }) => isClientFormat(type) && type !== 'MessagesTokenCount')
  if (base === undefined || formats.length === 0) return [path]
  return formats.map(({ suffix }) => base + suffix)
}

/** Whether the gateway reads the body of such a request. */
export function isClientFormat(type: RouteType): type is ClientFormat {
  return FORMATS.has(type)
}

const FORMATS: ReadonlySet<RouteType> = new Set<RouteType>([
  'Completions',
  'Messages',
  'Responses',
  'Embeddings',
  'MessagesTokenCount',
])

/** The part of the request body that the gateway needs. */
export function bodyNeed(type: RouteType | undefined): 'whole' | 'whole-if-small' | 'none' {
  if (type === undefined) return 'none'
  if (isClientFormat(type)) return 'whole'
  return type === 'Detect' ? 'whole-if-small' : 'none'
}

/** Methods of a route type; undefined: any (decision B04). */
export function methodOf(type: RouteType): 'POST' | 'GET' | undefined {
  if (isClientFormat(type)) return 'POST'
  return type === 'Models' || type === 'Realtime' ? 'GET' : undefined
}
