import { IdpError } from '../idp-error.ts'
import { definedIn, flagMember, memberTexts, objectMember, textMember } from '../json-members.ts'
import type { Client } from '../realm.ts'

/** A client as the admin API shows it (`ClientRepresentation` of Keycloak). */
export function clientRepresentation({
  secret,
  mappers,
  registrationToken: _,
  attributes = {},
  ...client
}: Client): object {
  return {
    ...client,
    attributes,
    publicClient: secret === undefined,
    clientAuthenticatorType: 'client-secret',
    ...(secret === undefined ? {} : { secret }),
    protocol: 'openid-connect',
    protocolMappers: mappers,
  }
}

/** The members of a client that a representation changes. @throws IdpError 400 */
export function clientChanges(json: unknown): Partial<Client> {
  if (textMember(json, 'clientId') === '') throw IdpError.admin(400, 'clientId is empty')
  return definedIn<Omit<Client, 'id' | 'mappers' | 'secret' | 'registrationToken'>>({
    clientId: textMember(json, 'clientId'),
    name: textMember(json, 'name'),
    enabled: flagMember(json, 'enabled'),
    redirectUris: memberTexts(json, 'redirectUris'),
    standardFlowEnabled: flagMember(json, 'standardFlowEnabled'),
    directAccessGrantsEnabled: flagMember(json, 'directAccessGrantsEnabled'),
    serviceAccountsEnabled: flagMember(json, 'serviceAccountsEnabled'),
    authorizationServicesEnabled: flagMember(json, 'authorizationServicesEnabled'),
    attributes: attributesIn(json),
  })
}

/** The value of an attribute of a client is a text. @throws IdpError 400 */
function attributesIn(json: unknown): Client['attributes'] {
  const attributes = objectMember(json, 'attributes')
  if (attributes === undefined) return undefined
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value !== 'string') throw IdpError.admin(400, `attribute ${name} must be a string`)
  }
  return Object.fromEntries(Object.entries(attributes))
}
