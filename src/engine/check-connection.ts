import { describeOrigin } from '#base/origin.ts'
import { usesRequestField } from '#exchange/field-use.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { foldName, type Head } from '#net/http/head.ts'
import type { Chain, ChainLink } from './chain.ts'

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

/** Refuses a Connection field that takes away what a policy of the chain reads, sets or removes (decision A-94). */
export function checkNominated({ nominated }: Head, { fields, links }: Chain): Refusal | undefined {
  if (nominated.length === 0) return undefined
  for (const name of nominated) {
    const foldedName = foldName(name)
    if (!usesRequestField(fields, foldedName)) continue
    const link = links.find(({ run }) => run.fields !== undefined && usesRequestField(run.fields, foldedName))
    return refuse(name, `which ${describe(link!)} reads or writes`)
  }
  return undefined
}

function isEndToEnd(foldedName: string): boolean {
  return END_TO_END.has(foldedName) || foldedName.startsWith('x-forwarded-')
}

function describe({ merged: { field, sources } }: ChainLink): string {
  return `${field} of ${describeOrigin(sources[0]!.origin)}`
}

function refuse(name: string, why: string): Refusal {
  return reject('connection-invalid', { detail: `Connection names ${name}, ${why}` })
}
