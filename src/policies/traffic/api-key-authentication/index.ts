import { definePolicy } from '../../policy.ts'
import { requiredCredential } from '../../shared/authentication/required-credential.ts'
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
  requires: (spec: ApiKeyAuthenticationSpec) => requiredCredential(spec, 'Bearer'),
  compile: compileApiKey,
})
