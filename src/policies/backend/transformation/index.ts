import { definePolicy } from '../../policy.ts'
import { compileBackendTransformation } from './compile.ts'

export const backendTransformation = definePolicy({
  section: 'backend',
  field: 'transformation',
  merge: 'replace',
  compile: compileBackendTransformation,
})
