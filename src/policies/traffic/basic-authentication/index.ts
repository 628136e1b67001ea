import { definePolicy } from '../../policy.ts'
import { compileBasicAuthentication } from './compile.ts'
import { trafficBasicAuthentication } from './schema.ts'

export const basicAuthentication = definePolicy({
  section: 'traffic',
  field: 'basicAuthentication',
  schema: trafficBasicAuthentication,
  merge: 'replace',
  compile: compileBasicAuthentication,
})
