import { definePolicy } from '../../policy.ts'
import { compileUrlRewrite } from './compile.ts'

/** A filter of a route rule, not a field that a ProxyPolicy can set. */
export const urlRewrite = definePolicy({
  section: 'traffic',
  field: 'urlRewrite',
  merge: 'replace',
  compile: compileUrlRewrite,
})
