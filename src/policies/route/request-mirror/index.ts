import { defineFilter } from '../../policy.ts'
import { compileRequestMirror } from './compile.ts'

/** A rule may have several. */
export const requestMirror = defineFilter({
  field: 'requestMirror',
  merge: 'accumulate',
  compile: compileRequestMirror,
})
