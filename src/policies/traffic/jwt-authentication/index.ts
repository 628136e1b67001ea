import { definePolicy } from '../../policy.ts'
import { compileJwtAuthentication } from './compile.ts'
import { trafficJwtAuthentication } from './schema.ts'

export const jwtAuthentication = definePolicy({
  section: 'traffic',
  field: 'jwtAuthentication',
  schema: trafficJwtAuthentication,
  merge: 'replace',
  compile: compileJwtAuthentication,
})
