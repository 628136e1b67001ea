import { definePolicy } from '../../policy.ts'
import { compileApiKey } from './compile.ts'

export const apiKeyAuthentication = definePolicy({
  section: 'traffic',
  field: 'apiKeyAuthentication',
  merge: 'replace',
  compile: compileApiKey,
})
