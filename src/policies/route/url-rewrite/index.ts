import { defineFilter } from '../../policy.ts'
import { compileUrlRewrite } from './compile.ts'

export const urlRewrite = defineFilter({
  field: 'urlRewrite',
  merge: 'replace',
  compile: compileUrlRewrite,
})
