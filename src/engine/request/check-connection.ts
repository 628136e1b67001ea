import { describeOrigin } from '#base/origin.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { Head } from '#net/http/head.ts'
import { foldName } from '#net/http/same-name.ts'
import type { ChainLink } from '../merge/chain.ts'
import { type Reader, readerOfField } from '../merge/readers.ts'
import type { RouteTable } from '../route/route-table.ts'

/** End-to-end fields. Naming one in Connection would remove it for all later recipients (RFC 9110, 7.6.1; decision A-94). */
const END_TO_END: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'forwarded',
  'host',
  'proxy-authorization',
  'x-real-ip',
  'x-request-id',
])

/** Refuses a Connection field that names an end-to-end field. */
export function checkConnection({ nominated }: Head): Refusal | undefined {
  if (nominated.length === 0) return undefined
  for (const name of nominated) if (isEndToEnd(foldName(name))) return refuse(name, 'an end-to-end field')
  return undefined
}

/**
 * Refuses a Connection field that names a field which a policy reads, sets or removes (decision A-94).
 * @param links of the chain; a backend has only expressions
 */
export function checkNominated(
  { nominated }: Head,
  { readers, links = [] }: { readonly readers: readonly Reader[]; readonly links?: readonly ChainLink[] },
): Refusal | undefined {
  if (nominated.length === 0) return undefined
  for (const name of nominated) {
    const foldedName = foldName(name)
    const where = readerOfField(readers, foldedName) ?? policyUsing(links, foldedName)
    if (where !== undefined) return refuse(name, `which ${where} reads or writes`)
  }
  return undefined
}

/** Refuses a Connection field that names a field which a route match of the host compares (decision A-94). */
export function checkMatchedFields(
  { nominated }: Head,
  routes: RouteTable<unknown>,
  host: string,
): Refusal | undefined {
  const name = nominated.find((it) => routes.comparesField(foldName(it), host))
  return name === undefined ? undefined : refuse(name, 'which a header match of a route compares')
}

/** The location of the first policy that reads or writes a request field other than by an expression. */
function policyUsing(links: readonly ChainLink[], foldedName: string): string | undefined {
  const link = links.find(({ run }) => run.fields?.request.some((name) => foldName(name) === foldedName))
  if (link === undefined) return undefined
  const { origin, path } = link.merged.sources[0]!
  return `${path} of ${describeOrigin(origin)}`
}

function isEndToEnd(foldedName: string): boolean {
  return END_TO_END.has(foldedName) || foldedName.startsWith('x-forwarded-')
}

function refuse(name: string, why: string): Refusal {
  return reject('connection-invalid', { detail: `Connection names ${name}, ${why}` })
}
