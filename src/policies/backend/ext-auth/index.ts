import { definePolicy } from '../../policy.ts'
import { compileBackendExtAuth } from './compile.ts'

export const extAuth = definePolicy({
  section: 'backend',
  field: 'extAuth',
  merge: 'replace',
  compile: compileBackendExtAuth,
})
