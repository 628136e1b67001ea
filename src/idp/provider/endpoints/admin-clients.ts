import type { IdpRequest } from '../http/idp-request.ts'
import { IdpError } from '../idp-error.ts'
import { flagMember, textMember } from '../json-members.ts'
import { type Client, createClient, findClient, MAX_CLIENTS, type Realm, randomSecret } from '../realm.ts'
import type { AdminHandler } from './admin-handler.ts'
import { clientChanges, clientRepresentation } from './client-representation.ts'

export const listClients: AdminHandler = ({ clients }, { query }) => {
  const wanted = query.get('clientId')
  const found = [...clients.values()].filter(({ clientId }) => wanted === null || clientId === wanted)
  return { status: 200, json: found.map(clientRepresentation) }
}

export const createAdminClient: AdminHandler = (realm, { json, origin }) => {
  const clientId = textMember(json, 'clientId') ?? ''
  if (clientId === '') throw IdpError.admin(400, 'clientId is missing')
  if (findClient(realm, clientId) !== undefined) throw IdpError.admin(409, `Client ${clientId} already exists`)
  if (realm.clients.size >= MAX_CLIENTS) throw IdpError.admin(409, `at most ${MAX_CLIENTS} clients are possible`)
  const chosen = textMember(json, 'secret')
  if (chosen === '') throw IdpError.admin(400, 'secret is empty')
  const secret = flagMember(json, 'publicClient') === true ? {} : { secret: chosen ?? randomSecret() }
  const client = createClient({ ...clientChanges(json), clientId, ...secret })
  realm.clients.set(client.id, client)
  const location = `${origin}/admin/realms/${encodeURIComponent(realm.name)}/clients/${client.id}`
  return { status: 201, headers: { location } }
}

export const oneClient: AdminHandler = (realm, request) => {
  return { status: 200, json: clientRepresentation(clientOf(realm, request)) }
}

/** Members that the representation leaves out stay as they are. */
export const changeClient: AdminHandler = (realm, request) => {
  const client = clientOf(realm, request)
  const changed = { ...client, ...clientChanges(request.json) }
  const other = findClient(realm, changed.clientId)
  if (other !== undefined && other.id !== client.id)
    throw IdpError.admin(409, `Client ${changed.clientId} already exists`)
  realm.clients.set(client.id, changed)
  return { status: 204 }
}

export const deleteClient: AdminHandler = (realm, request) => {
  realm.clients.delete(clientOf(realm, request).id)
  return { status: 204 }
}

export const clientSecret: AdminHandler = (realm, request) => {
  const { secret } = clientOf(realm, request)
  return { status: 200, json: { type: 'secret', ...(secret === undefined ? {} : { value: secret }) } }
}

/** @throws IdpError 404 */
export function clientOf({ clients }: Realm, { params }: IdpRequest): Client {
  const client = clients.get(params.client!)
  if (client === undefined) throw IdpError.admin(404, 'Could not find client')
  return client
}
