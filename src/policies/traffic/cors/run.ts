import { trimSpace } from '#base/byte-text.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed } from '#exchange/outcome.ts'
import { addVary } from '#net/http/add-vary.ts'
import { Head } from '#net/http/head.ts'
import { parseOrigin } from '../../shared/url/web-origin.ts'
import type { OriginPattern } from './origin-pattern.ts'

export interface CorsPlan {
  readonly allowsAll: boolean
  readonly origins: readonly OriginPattern[]
  /** Comma-separated; `*`: those that the client requests; undefined: none. */
  readonly methods: string | undefined
  readonly headers: string | undefined
  readonly exposed: string | undefined
  readonly credentials: boolean
  /** Seconds. */
  readonly maxAge: string
}

/** All response fields of the CORS protocol (Fetch, 3.3.3; Private Network Access, 3.1). */
const FIELDS = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-max-age',
  'access-control-allow-private-network',
]

type Field = readonly [name: string, value: string]

/**
 * Responds to preflights before authentication, and determines the CORS fields of all responses, including refusals (decision A-84). With a
 * policy in each phase, the later one determines them. Fields of the backend do not survive: repeated fields permit nothing (Fetch, CORS
 * check), and those of a backend may permit more.
 */
export function runCors(plan: CorsPlan, exchange: Exchange): Outcome {
  const { request } = exchange
  const origin = request.joined('origin')
  exchange.writeCors = withoutFields
  if (origin === undefined) return proceed
  const allowed = isAllowed(plan, origin)
  const method = request.method === 'OPTIONS' ? request.get('access-control-request-method') : undefined
  if (method) return preflight(allowed ? permissionsAhead(plan, origin, method, exchange) : [], exchange)
  if (allowed) exchange.writeCors = (response) => writeFields(response, permissions(plan, origin, response))
  return proceed
}

function withoutFields(response: Head): void {
  for (const name of FIELDS) response.remove(name)
}

function writeFields(response: Head, fields: readonly Field[]): void {
  withoutFields(response)
  for (const [name, value] of fields) response.set(name, value)
}

/** The origin may read the response. */
function permissions(plan: CorsPlan, origin: string, response: Head): Field[] {
  const exposed = plan.credentials && plan.exposed === '*' ? exposedNames(response) : plan.exposed
  return [...permissionOf(plan, origin), ...fieldOf('access-control-expose-headers', exposed)]
}

/** The origin may send the request of a preflight. Browsers ignore the exposed headers here; the conformance suite of the Gateway API expects them. */
function permissionsAhead(plan: CorsPlan, origin: string, method: string, { request }: Exchange): Field[] {
  const headers = allowedHeaders(plan, request.joined('access-control-request-headers'))
  return [
    ...permissions(plan, origin, Head.response(200)),
    ...fieldOf('access-control-allow-methods', plan.methods === '*' ? method : plan.methods),
    ...fieldOf('access-control-allow-headers', headers),
    ['access-control-max-age', plan.maxAge],
  ]
}

/** `null` is the origin of all sandboxed documents and files: without credentials `*` permits as much, and names none of them. */
function permissionOf({ allowsAll, credentials }: CorsPlan, origin: string): Field[] {
  const allowed = allowsAll && !credentials && origin === 'null' ? '*' : origin
  return [
    ['access-control-allow-origin', allowed],
    ...fieldOf('access-control-allow-credentials', credentials ? 'true' : undefined),
  ]
}

function fieldOf(name: string, value: string | undefined): Field[] {
  return value === undefined ? [] : [[name, value]]
}

/** Scripts can read these without permission, or never (Fetch, 2.2.2). */
const NOT_EXPOSED: ReadonlySet<string> = new Set([
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
  'set-cookie',
  'set-cookie2',
])

/** `*` written out: with credentials a browser takes it for the name of a field (Fetch, 3.3.3). */
function exposedNames(response: Head): string | undefined {
  const names = new Set<string>()
  response.each((name) => {
    if (!NOT_EXPOSED.has(name)) names.add(name)
  })
  return names.size === 0 ? undefined : [...names].join(', ')
}

/** The policy reads Origin, so every response depends on it, even without an Origin (Fetch, CORS protocol and caches). */
export function varyByOrigin({ response }: Exchange): Outcome {
  if (response !== undefined) addVary(response, 'Origin')
  return proceed
}

function isAllowed(plan: CorsPlan, origin: string): boolean {
  if (plan.allowsAll) return true
  const parsed = parseOrigin(origin)
  return parsed !== undefined && plan.origins.some((matches) => matches(parsed))
}

/** An origin that is not allowed gets the same status without permissions; nothing is forwarded. */
function preflight(fields: readonly Field[], exchange: Exchange): Outcome {
  const head = Head.response(200)
  writeFields(head, fields)
  head.set('vary', 'Origin')
  exchange.writeCors = (response) => writeFields(response, fields)
  return { kind: 'answer', head, body: undefined }
}

/** `*` is replaced by the requested headers, because with credentials a browser takes it literally. */
function allowedHeaders(plan: CorsPlan, requested: string | undefined): string | undefined {
  if (plan.headers !== '*') return plan.headers
  const names = (requested ?? '')
    .split(',')
    .map(trimSpace)
    .filter((name) => name !== '')
  return names.length === 0 ? undefined : names.join(', ')
}
