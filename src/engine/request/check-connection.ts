import { describeOrigin } from '#base/origin.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { foldName, type Head } from '#net/http/head.ts'
import type { RouteTable } from '../route/route-table.ts'
import type { ChainLink } from './chain.ts'
import { type Reader, readerOfField } from './readers.ts'

/**
 * Fields for everybody on the way of a request. A Connection that names one takes it away from whoever stands behind (RFC 9110,
 * 7.6.1; decision A-94).
 */
const END_TO_END: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'forwarded',
  'host',
  'proxy-authorization',
])

/** Refuses a Connection field that takes away what the next server has to see. */
export function checkConnection({ nominated }: Head): Refusal | undefined {
  if (nominated.length === 0) return undefined
  for (const name of nominated) if (isEndToEnd(foldName(name))) return refuse(name, 'an end-to-end field')
  return undefined
}

/**
 * Refuses a Connection field that takes away what a policy reads, sets or removes (decision A-94).
 * @param links of the chain; a backend has expressions of its own only
 */
export function checkNominated(
  { nominated }: Head,
  { readers, links = [] }: { readonly readers: readonly Reader[]; readonly links?: readonly ChainLink[] },
): Refusal | undefined {
  if (nominated.length === 0) return undefined
  for (const name of nominated) {
    const foldedName = foldName(name)
    const where = readerOfField(readers, foldedName) ?? userOf(links, foldedName)
    if (where !== undefined) return refuse(name, `which ${where} reads or writes`)
  }
  return undefined
}

/** Refuses a Connection field that takes away what routes are chosen by (decision A-94). */
export function checkRouted({ nominated }: Head, routes: RouteTable<unknown>, host: string): Refusal | undefined {
  const name = nominated.find((it) => routes.goesBy(foldName(it), host))
  return name === undefined ? undefined : refuse(name, 'which a header match of a route compares')
}

/** The first policy that has to do with a field of requests without an expression, in words. */
function userOf(links: readonly ChainLink[], foldedName: string): string | undefined {
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
