import { compareText } from '#base/compare-text.ts'
import { unreadCall } from './known-paths.ts'
import type { RouteType } from './policy-schema.ts'
import { decodeEscapes, foldCase, lenientPaths, suffixPath, suffixPathOf } from './suffix-path.ts'

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
  if (suffixes.length === 0) return typeOfRest(routes, target)
  const type = matchSuffix(suffixes, target)
  if (type !== undefined) return type
  const original = target === originalTarget ? undefined : matchSuffix(suffixes, originalTarget)
  return original ?? typeOfRest(routes, target)
}

/** A format at `*` does not read the calls that an entry of their own forwards. Without entries, every request is a chat completion. */
function typeOfRest({ otherwise, unset }: RouteTypes, target: string): RouteType | undefined {
  if (unset || otherwise === undefined || !isClientFormat(otherwise)) return otherwise
  const key = unreadCall(target)?.key ?? '*'
  return key === '*' ? otherwise : undefined
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

/** The path of one model, below that of a list. */
export interface ModelPath {
  readonly list: string
  readonly id: string
}

/** @param target of a request for one model of a list; ids may have slashes */
export function modelPath({ suffixes }: RouteTypes, target: string): ModelPath | undefined {
  const path = suffixPathOf(target)
  for (const { suffix, type } of suffixes) {
    const start = type === 'Models' ? path.indexOf(`${suffix}/`) : -1
    if (start < 0) continue
    const end = start + suffix.length
    return { list: path.slice(0, end), id: decodeEscapes(path.slice(end + 1)) }
  }
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

/** Methods of a route type; undefined: any. */
export function methodOf(type: RouteType): 'POST' | 'GET' | undefined {
  if (isClientFormat(type)) return 'POST'
  return type === 'Models' || type === 'Realtime' ? 'GET' : undefined
}
