import { IdpError } from '../idp-error.ts'
import { definedIn, flagMember, memberTexts, textMember } from '../json-members.ts'
import type { Client } from '../realm.ts'

/** A client as the admin API shows it (`ClientRepresentation` of Keycloak). */
export function clientRepresentation({ secret, mappers, ...client }: Client): object {
  return {
    ...client,
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
  return definedIn<Omit<Client, 'id' | 'mappers' | 'secret'>>({
    clientId: textMember(json, 'clientId'),
    name: textMember(json, 'name'),
    enabled: flagMember(json, 'enabled'),
    redirectUris: memberTexts(json, 'redirectUris'),
    standardFlowEnabled: flagMember(json, 'standardFlowEnabled'),
    directAccessGrantsEnabled: flagMember(json, 'directAccessGrantsEnabled'),
    serviceAccountsEnabled: flagMember(json, 'serviceAccountsEnabled'),
    authorizationServicesEnabled: flagMember(json, 'authorizationServicesEnabled'),
  })
}
