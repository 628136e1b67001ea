import { defineFilter } from '../../policy.ts'
import { compileRequestMirror } from './compile.ts'

/** A rule may have several mirror filters. */
export const requestMirror = defineFilter({
  field: 'requestMirror',
  writtenAs: 'filter RequestMirror of the route rule',
  merge: 'accumulate',
  compile: compileRequestMirror,
})
