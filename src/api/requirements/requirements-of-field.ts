import { childrenOf, type FoundField, findField, objectIn, pathText, type UnknownField } from '../find-field.ts'
import type { Requirement } from './requirement.ts'
import { REQUIREMENTS } from './requirements.ts'

/** Areas that are subjects rather than fields; no field shows their statements. */
export const SUBJECTS: readonly string[] = ['api', 'idp.endpoints', 'platform', 'secrets', 'service', 'tls']

/**
 * The statements of the specification about a field: those of its area and of the shared structures that it uses, and those of the object
 * that contains it whose names begin with its name (`policy/targetRefs-count`).
 */
export function requirementsOf(field: FoundField): readonly Requirement[] {
  const area = areaOf(field)
  if (area === undefined) return []
  const areas = [area, ...sharedAreas(area), ...(field.path.length === 0 ? ['resource', 'version'] : [])]
  return statementsIn(areas, [...areas.flatMap(nameIn), ...scalarName(field)])
}

/** Whether the specification says what the field, or an object that contains it, does, and nothing of that is proved. */
export function isNotImplemented(field: FoundField): boolean {
  return [...field.path.keys()].some((depth) => {
    const behaviour = [...ownBehaviour(findField(pathText({ ...field, path: field.path.slice(0, depth + 1) })))]
    return behaviour.length > 0 && behaviour.every(({ gap }) => gap)
  })
}

/** What is said about a field and its parts, but not about structures that they share with others. */
function* ownBehaviour(field: FoundField | UnknownField): Generator<Requirement> {
  if ('message' in field) return
  const area = areaOf(field)
  if (area === undefined) return
  for (const statement of statementsIn([area], nameIn(area))) if (statement.kind === 'behaviour') yield statement
  for (const child of childrenOf(field)) yield* ownBehaviour(child)
}

/** @param starts of ids, up to the end or a hyphen: `policy/targetRefs` */
function statementsIn(areas: readonly string[], starts: readonly string[]): readonly Requirement[] {
  const named = starts.flatMap((start) =>
    inArea(start.slice(0, start.indexOf('/'))).filter(({ id }) => id === start || id.startsWith(`${start}-`)),
  )
  return [...new Set([...areas.flatMap(inArea), ...named])].map(({ statement }) => statement)
}

interface Identified {
  readonly id: string
  readonly statement: Requirement
}

function inArea(area: string): readonly Identified[] {
  return BY_AREA.get(area) ?? []
}

/** The areas of the kind ProxyBackend, which share their names with those of the section of ProxyPolicy, begin with the kind. */
const BY_AREA: ReadonlyMap<string, readonly Identified[]> = Map.groupBy(
  Object.entries(REQUIREMENTS).map(([id, statement]) => ({
    id: isOfBackendKind(statement) ? id.replace(/^backend\b/, 'ProxyBackend') : id,
    statement,
  })),
  ({ id }) => id.slice(0, id.indexOf('/')),
)

/** The sections that define the kind ProxyBackend. */
function isOfBackendKind({ document, section }: Requirement): boolean {
  return document === 1 && /^2\.[34]\b/.test(section)
}

/** Where the fields of an area are: paths from the kind, and the area that takes the place of what fits. The first line that fits counts. */
const PLACES: readonly (readonly [path: RegExp, area: string])[] = [
  [/^ProxyPolicy\.spec\.(?=(?:frontend|traffic|backend)\b)/, ''],
  [/^ProxyPolicy(?:\.spec)?\b/, 'policy'],
  [/^ProxyParameters(?:\.spec)?\b/, 'parameters'],
  [/^ProxyBackend\.spec\.(?:ai\.groups\.providers\.|mcp\.targets\.static\.)?policies(?=\.)/, 'backend'],
  [/^ProxyBackend(?:\.spec)?\b/, 'ProxyBackend'],
]

/** Parts of paths that areas leave out. */
const LEFT_OUT: readonly (readonly [path: RegExp, area: string])[] = [
  [/\.conditional\.policy\b/, ''],
  [/\.promptGuard\.(?:request|response)\b/, '.promptGuard'],
  [/^ProxyBackend\.ai\.(?:provider|groups\.providers)(?=\.provider[A-Z])/, 'ProxyBackend.ai'],
]

/** Structures that several fields share. */
const SHARED: readonly (readonly [path: RegExp, area: string])[] = [
  [/^(?:traffic|backend\.mcp)\.authorization\b|^frontend\.networkAuthorization\b/, 'authorization'],
  [/^(?:traffic\.\w+|backend\.auth)\.location\b/, 'location'],
  [/^frontend\.(?:accessLog|tracing)\.attributes\b/, 'logTracingAttributes'],
  [/^traffic\.\w+\.conditional\b/, 'traffic.conditional'],
  [/^backend\.health(?:\.eviction)?\b/, 'health'],
  [
    /^(?:traffic\.jwtAuthentication\.providers|backend\.mcp\.authentication)\.jwks(?:\.remote)?\b/,
    'traffic.jwtAuthentication.jwks',
  ],
  [/^backend\.ai\.routes\b/, 'llm.routes'],
  [/^(?:traffic\.jwtAuthentication\.mcp|backend\.mcp\.authentication)\.provider\b/, 'idp'],
  [
    /^parameters\.(?:deployment|service|serviceAccount|podDisruptionBudget|horizontalPodAutoscaler)\b/,
    'parameters.overlay',
  ],
  [/^ProxyBackend\.(?:ai\.groups\.providers\.|mcp\.targets\.static\.)?policies$/, 'backend'],
  [/^ProxyBackend\.ai\.groups\.providers(?=\.\w)/, 'ProxyBackend.ai.provider'],
]

/** Undefined for fields of the platform's kinds. */
function areaOf({ info, path }: FoundField): string | undefined {
  if (!info.own) return undefined
  const whole = [info.kind, ...path].join('.')
  const [fit, place] = PLACES.find(([from]) => from.test(whole))!
  return LEFT_OUT.reduce((area, [part, rest]) => area.replace(part, rest), whole.replace(fit, place))
}

function sharedAreas(area: string): readonly string[] {
  return SHARED.filter(([from]) => from.test(area)).map(([from, to]) => area.replace(from, to))
}

/** How the ids of statements about a field begin, in the area of the object that contains it. */
function nameIn(area: string): readonly string[] {
  const dot = area.lastIndexOf('.')
  return dot < 0 ? [] : [`${area.slice(0, dot)}/${area.slice(dot + 1)}`]
}

/** How the ids of statements about the type begin: `scalar/http-header-name` for HTTPHeaderName. */
function scalarName({ node }: FoundField): readonly string[] {
  const { scalar } = objectIn(node)
  if (scalar === undefined) return []
  const words = scalar.replace(/([a-z])([A-Z])/g, '$1-$2').replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
  return [`scalar/${words.toLowerCase()}`]
}
