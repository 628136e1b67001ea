import { definePolicy } from '../../policy.ts'
import { compileAuthorization } from './compile.ts'

export const authorization = definePolicy({
  section: 'traffic',
  field: 'authorization',
  merge: 'accumulate',
  compile: compileAuthorization,
})
