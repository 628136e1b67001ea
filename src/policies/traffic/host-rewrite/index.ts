import { definePolicy } from '../../policy.ts'
import { compileHostRewrite } from './compile.ts'
import { trafficHostRewrite } from './schema.ts'

export const hostRewrite = definePolicy({
  section: 'traffic',
  field: 'hostRewrite',
  schema: trafficHostRewrite,
  merge: 'replace',
  compile: compileHostRewrite,
})
