import { definePolicy } from '../../policy.ts'
import { compileDirectResponse } from './compile.ts'

export const directResponse = definePolicy({
  section: 'traffic',
  field: 'directResponse',
  merge: 'replace',
  compile: compileDirectResponse,
})
