import { defineFilter } from '../../policy.ts'
import { compileUrlRewrite } from './compile.ts'

export const urlRewrite = defineFilter({
  field: 'urlRewrite',
  writtenAs: 'filter URLRewrite of the route rule',
  merge: 'replace',
  compile: compileUrlRewrite,
})
