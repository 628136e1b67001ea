import { definePolicy } from '../../policy.ts'
import { compileApiKey } from './compile.ts'
import { type ApiKeyAuthenticationSpec, trafficApiKeyAuthentication } from './schema.ts'

export const apiKeyAuthentication = definePolicy({
  section: 'traffic',
  field: 'apiKeyAuthentication',
  schema: trafficApiKeyAuthentication,
  merge: 'replace',
  protects: true,
  guarantees: ({ mode }: ApiKeyAuthenticationSpec) => (mode === 'Strict' ? ['apiKey', 'apiKey.key'] : []),
  compile: compileApiKey,
})
