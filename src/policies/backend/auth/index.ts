import { definePolicy } from '../../policy.ts'
import { compileBackendAuth } from './compile.ts'

export const auth = definePolicy({
  section: 'backend',
  field: 'auth',
  merge: 'replace',
  compile: compileBackendAuth,
})
