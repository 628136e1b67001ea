import { definePolicy } from '../../policy.ts'
import { compileRequestMirror } from './compile.ts'

/** A filter of a route rule, not a field that a ProxyPolicy can set; a rule may have several. */
export const requestMirror = definePolicy({
  section: 'traffic',
  field: 'requestMirror',
  merge: 'accumulate',
  compile: compileRequestMirror,
})
