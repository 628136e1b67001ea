import { definePolicy } from '../../policy.ts'
import { compileBackendTransformation } from './compile.ts'

export const transformation = definePolicy({
  section: 'backend',
  field: 'transformation',
  merge: 'replace',
  compile: compileBackendTransformation,
})
