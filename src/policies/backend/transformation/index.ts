import { definePolicy } from '../../policy.ts'
import { compileBackendTransformation } from './compile.ts'
import { backendTransformation } from './schema.ts'

export const transformation = definePolicy({
  section: 'backend',
  field: 'transformation',
  schema: backendTransformation,
  merge: 'members',
  compile: compileBackendTransformation,
})
