import type { BackendItem } from '#plan/item.ts'
import { auth } from '#policies/backend/auth/index.ts'
import type { CompileContext } from '#policies/policy.ts'
import { type Address, isLoopbackAddress } from '#protocols/address.ts'
import { type MergedField, sourcesOf } from '../merge/merge.ts'
import { type Place, RequestedPlaces } from './place.ts'

/** How `backend.auth` gets a credential that is sent as it is; a signature of `cloudOne` does not count. */
const SENT_AS_IS = ['key', 'secretRef', 'passthrough', 'cloudTwo', 'cloudThree'] as const

/**
 * Reports a credential that is sent in plain text to a ProxyBackend outside of this machine (decisions A-102, B11), and one that any server
 * gets which a client names. Services are usually in the same cluster.
 */
export function reportExposedCredential(
  { item, address, place }: { item: BackendItem; address: Address; place: Place | RequestedPlaces },
  fields: ReadonlyMap<string, MergedField>,
  context: CompileContext,
): void {
  if (place instanceof RequestedPlaces) return reportCredentialForAll(fields, context)
  if (item.type === 'service' || place.destinations.usual.tls !== undefined || isOnThisMachine(address)) return
  const [source] = sourcesOf(auth, fields)
  const form = SENT_AS_IS.find((name) => source?.spec[name] !== undefined)
  if (source === undefined || form === undefined) return
  const message = `sends a credential in plain text to ${address.hostname ?? address.host}:${address.port}; set backend.tls, or for an LLM provider port 443`
  context.report(source, `.${form}`, { code: 'credential-in-plain-text', message, severity: 'warning' })
}

function reportCredentialForAll(fields: ReadonlyMap<string, MergedField>, context: CompileContext): void {
  const [source] = sourcesOf(auth, fields)
  if (source === undefined) return
  const message =
    'sends the credential to every destination that a client names, also to servers of the client; use a static backend for the servers that need it'
  context.report(source, '', { code: 'credential-for-any-destination', message, severity: 'warning' })
}

function isOnThisMachine({ host, unixPath }: Address): boolean {
  const name = host.toLowerCase()
  return unixPath !== undefined || isLoopbackAddress(name) || name === 'localhost' || name.endsWith('.localhost')
}
