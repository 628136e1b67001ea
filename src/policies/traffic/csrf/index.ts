import { definePolicy } from '../../policy.ts'
import { compileCsrf } from './compile.ts'

export const csrf = definePolicy({
  section: 'traffic',
  field: 'csrf',
  merge: 'replace',
  compile: compileCsrf,
})
