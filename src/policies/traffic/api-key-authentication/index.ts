import { definePolicy } from '../../policy.ts'
import { checkedCredential } from '../../shared/authentication/checked-credential.ts'
import { compileApiKey } from './compile.ts'
import { type ApiKeyAuthenticationSpec, trafficApiKeyAuthentication } from './schema.ts'

export const apiKeyAuthentication = definePolicy({
  section: 'traffic',
  field: 'apiKeyAuthentication',
  schema: trafficApiKeyAuthentication,
  merge: 'replace',
  protects: true,
  identifies: 'apiKey',
  guarantees: ({ mode }: ApiKeyAuthenticationSpec) => (mode === 'Strict' ? ['apiKey', 'apiKey.key'] : []),
  checks: (spec: ApiKeyAuthenticationSpec) => checkedCredential(spec, 'Bearer'),
  compile: compileApiKey,
})
