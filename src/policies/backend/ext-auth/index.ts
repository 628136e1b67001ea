import { definePolicy } from '../../policy.ts'
import { compileBackendExtAuth } from './compile.ts'
import { backendExtAuth } from './schema.ts'

export const extAuth = definePolicy({
  section: 'backend',
  field: 'extAuth',
  schema: backendExtAuth,
  merge: 'replace',
  protects: true,
  compile: compileBackendExtAuth,
})
