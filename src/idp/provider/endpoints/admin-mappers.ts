import { randomUUID } from 'node:crypto'
import { IdpError } from '../idp-error.ts'
import { memberIn, objectMember, textMember } from '../json-members.ts'
import type { Client, Mapper, Realm } from '../realm.ts'
import { clientOf } from './admin-clients.ts'
import type { AdminHandler } from './admin-handler.ts'

const MAX_MAPPERS = 100

export const listMappers: AdminHandler = (realm, request) => ({ status: 200, json: clientOf(realm, request).mappers })

export const createMapper: AdminHandler = (realm, request) => {
  const client = clientOf(realm, request)
  const mapper = mapperIn(request.json, randomUUID())
  if (client.mappers.length >= MAX_MAPPERS) throw IdpError.admin(409, `at most ${MAX_MAPPERS} mappers are possible`)
  if (client.mappers.some(({ name }) => name === mapper.name)) {
    throw IdpError.admin(409, 'Protocol mapper exists with same name')
  }
  replaceMappers(realm, client, [...client.mappers, mapper])
  const { origin, params } = request
  const path = `/admin/realms/${params.realm}/clients/${client.id}/protocol-mappers/models/${mapper.id}`
  return { status: 201, headers: { location: origin + path } }
}

export const changeMapper: AdminHandler = (realm, request) => {
  const client = clientOf(realm, request)
  const id = request.params.mapper!
  if (!client.mappers.some((mapper) => mapper.id === id)) throw notFound()
  const changed = mapperIn(request.json, id)
  replaceMappers(
    realm,
    client,
    client.mappers.map((mapper) => (mapper.id === id ? changed : mapper)),
  )
  return { status: 204 }
}

export const deleteMapper: AdminHandler = (realm, request) => {
  const client = clientOf(realm, request)
  const left = client.mappers.filter(({ id }) => id !== request.params.mapper)
  if (left.length === client.mappers.length) throw notFound()
  replaceMappers(realm, client, left)
  return { status: 204 }
}

function replaceMappers({ clients }: Realm, client: Client, mappers: readonly Mapper[]): void {
  clients.set(client.id, { ...client, mappers })
}

/** @throws IdpError 400 */
function mapperIn(json: unknown, id: string): Mapper {
  const name = textMember(json, 'name') ?? ''
  const protocolMapper = textMember(json, 'protocolMapper') ?? ''
  if (name === '' || protocolMapper === '') throw IdpError.admin(400, 'name and protocolMapper are needed')
  const config = objectMember(json, 'config') ?? {}
  const members = Object.keys(config).map((key) => [key, scalarText(config, key)])
  const protocol = textMember(json, 'protocol') ?? 'openid-connect'
  return { id, name, protocol, protocolMapper, config: Object.fromEntries(members) }
}

/** Flags may be `true` or `"true"`. @throws IdpError 400 */
function scalarText(config: object, key: string): string {
  const value = memberIn(config, key)
  if (typeof value === 'object') throw IdpError.admin(400, `config of the mapper: ${key} must be a string`)
  return String(value)
}

function notFound(): IdpError {
  return IdpError.admin(404, 'Model not found')
}
