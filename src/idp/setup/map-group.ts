import { memberOf } from './answer-text.ts'
import type { IdpCall } from './idp-call.ts'
import { pathId } from './path-id.ts'
import { adminPath, type SetupContext } from './setup-context.ts'

/** The attribute of users, and the claim of tokens that has its value. */
export const GROUP = 'group'

/** Step 7 (document 1, 4.4 and 5.8). */
const MAPPER = {
  name: GROUP,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-usermodel-attribute-mapper',
  config: {
    'claim.name': GROUP,
    'jsonType.label': 'String',
    'user.attribute': GROUP,
    'id.token.claim': 'true',
    'access.token.claim': 'true',
  },
}

/**
 * Step 7: the attribute `group` becomes a claim of id tokens and access tokens.
 * @throws StepFailure
 */
export async function mapGroup({ access, realm, report }: SetupContext, clientUuid: string): Promise<void> {
  const path = `${adminPath(realm)}/clients/${clientUuid}/protocol-mappers/models`
  const list: IdpCall = { method: 'GET', path }
  const { json } = await access.call(7, list)
  const found = Array.isArray(json) ? json.find((one) => memberOf(one, 'name') === MAPPER.name) : undefined
  if (found === undefined) {
    await access.call(7, { method: 'POST', path, json: MAPPER })
    return report(7, 'done')
  }
  const config = memberOf(found, 'config')
  const isSame = Object.entries(MAPPER.config).every(([name, value]) => memberOf(config, name) === value)
  if (isSame && memberOf(found, 'protocolMapper') === MAPPER.protocolMapper) return report(7, 'unchanged')
  const id = pathId(7, list, found)
  await access.call(7, { method: 'PUT', path: `${path}/${id}`, json: { ...MAPPER, id } })
  report(7, 'done', 'the mapper was changed')
}
