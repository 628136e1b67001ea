import { memberOf } from './answer-text.ts'
import type { IdpCall } from './idp-call.ts'
import { pathId } from './path-id.ts'
import { adminPath, type SetupContext } from './setup-context.ts'

const POLICY_TYPE = 'org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy'

/**
 * Step 9, for tests only: anybody may register clients afterwards, from any host.
 * @throws StepFailure
 */
export async function removePolicies({ access, realm, report }: SetupContext): Promise<void> {
  const path = `${adminPath(realm)}/components`
  const list: IdpCall = { method: 'GET', path: `${path}?type=${POLICY_TYPE}` }
  const { json } = await access.call(9, list)
  const components = (Array.isArray(json) ? json : []).filter(isRemoved)
  for (const component of components) {
    const id = pathId(9, list, component)
    // Another run may have removed it.
    await access.call(9, { method: 'DELETE', path: `${path}/${id}` }, [404])
  }
  if (components.length === 0) report(9, 'unchanged')
  else report(9, 'done', 'anybody can register clients: for tests only')
}

function isRemoved(component: unknown): boolean {
  const providerId = memberOf(component, 'providerId')
  if (providerId === 'trusted-hosts') return true
  return providerId === 'allowed-client-templates' && memberOf(component, 'subType') === 'anonymous'
}
