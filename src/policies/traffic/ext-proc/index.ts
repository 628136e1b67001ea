import { definePolicy } from '../../policy.ts'
import { compileExtProc } from './compile.ts'

export const extProc = definePolicy({
  section: 'traffic',
  field: 'extProc',
  merge: 'replace',
  compile: compileExtProc,
})
