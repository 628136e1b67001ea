import { randomUUID } from 'node:crypto'
import { IdpError } from '../idp-error.ts'
import { textMember } from '../json-members.ts'
import { createKey, signingKey, withNewKey } from '../realm-keys.ts'
import type { AdminHandler } from './admin-handler.ts'

const KEY_PROVIDER = 'org.keycloak.keys.KeyProvider'

export const listComponents: AdminHandler = ({ components }, { query }) => {
  const type = query.get('type')
  const found = [...components.values()].filter(({ providerType }) => type === null || providerType === type)
  return { status: 200, json: found }
}

/** Only a provider of keys can be added: it makes a new key, which signs from now on. */
export const createComponent: AdminHandler = async (realm, { json, origin }) => {
  if (textMember(json, 'providerType') !== KEY_PROVIDER || textMember(json, 'providerId') !== 'rsa-generated') {
    throw IdpError.admin(
      400,
      `only components with providerType ${KEY_PROVIDER} and providerId rsa-generated can be added`,
    )
  }
  realm.keys = withNewKey(realm.keys, await createKey())
  const location = `${origin}/admin/realms/${encodeURIComponent(realm.name)}/components/${randomUUID()}`
  return { status: 201, headers: { location } }
}

export const deleteComponent: AdminHandler = ({ components }, { params }) => {
  if (!components.delete(params.component!)) throw IdpError.admin(404, 'Could not find component')
  return { status: 204 }
}

export const listKeys: AdminHandler = ({ keys }) => {
  const shown = keys.map(({ kid, use }) => ({ kid, use: use.toUpperCase(), type: 'RSA', status: 'ACTIVE' }))
  return { status: 200, json: { active: { RS256: signingKey(keys).kid }, keys: shown } }
}
