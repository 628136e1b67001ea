import { definePolicy } from '../../policy.ts'
import { compileCsrf } from './compile.ts'
import { trafficCsrf } from './schema.ts'

export const csrf = definePolicy({
  section: 'traffic',
  field: 'csrf',
  schema: trafficCsrf,
  merge: 'replace',
  protects: true,
  compile: compileCsrf,
})
