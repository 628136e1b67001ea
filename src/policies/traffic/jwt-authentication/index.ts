import { definePolicy } from '../../policy.ts'
import { compileJwtAuthentication } from './compile.ts'

export const jwtAuthentication = definePolicy({
  section: 'traffic',
  field: 'jwtAuthentication',
  merge: 'replace',
  compile: compileJwtAuthentication,
})
