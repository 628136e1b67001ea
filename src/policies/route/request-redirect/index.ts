import { definePolicy } from '../../policy.ts'
import { compileRequestRedirect } from './compile.ts'

/** A filter of a route rule, not a field that a ProxyPolicy can set. */
export const requestRedirect = definePolicy({
  section: 'traffic',
  field: 'requestRedirect',
  merge: 'replace',
  compile: compileRequestRedirect,
})
