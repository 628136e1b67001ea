import { definePolicy } from '../../policy.ts'
import { compileHostRewrite } from './compile.ts'

export const hostRewrite = definePolicy({
  section: 'traffic',
  field: 'hostRewrite',
  merge: 'replace',
  compile: compileHostRewrite,
})
