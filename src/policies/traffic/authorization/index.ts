import { definePolicy } from '../../policy.ts'
import { compileAuthorization } from './compile.ts'
import { trafficAuthorization } from './schema.ts'

export const authorization = definePolicy({
  section: 'traffic',
  field: 'authorization',
  schema: trafficAuthorization,
  merge: 'accumulate',
  protects: true,
  compile: compileAuthorization,
})
