import { definePolicy } from '../../policy.ts'
import { compileDirectResponse } from './compile.ts'
import { trafficDirectResponse } from './schema.ts'

export const directResponse = definePolicy({
  section: 'traffic',
  field: 'directResponse',
  schema: trafficDirectResponse,
  merge: 'replace',
  protects: true,
  compile: compileDirectResponse,
})
