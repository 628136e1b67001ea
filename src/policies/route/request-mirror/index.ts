import { defineFilter } from '../../policy.ts'
import { compileRequestMirror } from './compile.ts'

/** A rule may have several mirror filters. */
export const requestMirror = defineFilter({
  field: 'requestMirror',
  merge: 'accumulate',
  compile: compileRequestMirror,
})
