import { definePolicy } from '../../policy.ts'
import { compileBackendAuth } from './compile.ts'
import { backendAuth } from './schema.ts'

export const auth = definePolicy({
  section: 'backend',
  field: 'auth',
  schema: backendAuth,
  merge: 'replace',
  compile: compileBackendAuth,
})
