import { definePolicy } from '../../policy.ts'
import { compileApiKey } from './compile.ts'
import { trafficApiKeyAuthentication } from './schema.ts'

export const apiKeyAuthentication = definePolicy({
  section: 'traffic',
  field: 'apiKeyAuthentication',
  schema: trafficApiKeyAuthentication,
  merge: 'replace',
  compile: compileApiKey,
})
