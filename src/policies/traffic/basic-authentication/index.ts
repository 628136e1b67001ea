import { definePolicy } from '../../policy.ts'
import { compileBasicAuthentication } from './compile.ts'

export const basicAuthentication = definePolicy({
  section: 'traffic',
  field: 'basicAuthentication',
  merge: 'replace',
  compile: compileBasicAuthentication,
})
