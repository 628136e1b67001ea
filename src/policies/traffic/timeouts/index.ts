import { definePolicy } from '../../policy.ts'
import { compileTimeouts } from './compile.ts'

export const timeouts = definePolicy({
  section: 'traffic',
  field: 'timeouts',
  merge: 'replace',
  compile: compileTimeouts,
})
