import { expect, test } from 'vitest'
import { backendName } from './backend-name.ts'

const rows: readonly (readonly [key: string, name: string])[] = [
  ['ProxyBackend/default/tools', 'default/tools'],
  ['ProxyBackend/default/tools/one', 'default/tools'],
  ['Service/default/web/80', 'default/web'],
  [
    'ProxyBackend/default/ProxyPolicy:guards:spec.backend.ai.promptGuard.request[0].moderationEndpoint',
    'default/guards.promptGuard.request[0]',
  ],
  [
    'ProxyBackend/default/ProxyBackend:models:spec.policies.ai.promptGuard.response[7].guardrailsServiceOne',
    'default/models.promptGuard.response[7]',
  ],
  [
    'ProxyBackend/default/ProxyBackend:models:spec.ai.groups[0].providers[1].policies.ai.promptGuard.request[2].guardrailsServiceTwo',
    'default/models.groups[0].providers[1].promptGuard.request[2]',
  ],
]

for (const [key, name] of rows) {
  test(`the name of ${key} is ${name}`, () => expect(backendName(key)).toBe(name))
}
