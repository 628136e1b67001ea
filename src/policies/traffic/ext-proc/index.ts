import { definePolicy } from '../../policy.ts'
import { compileExtProc } from './compile.ts'
import { trafficExtProc } from './schema.ts'

export const extProc = definePolicy({
  section: 'traffic',
  field: 'extProc',
  schema: trafficExtProc,
  merge: 'replace',
  protects: true,
  compile: compileExtProc,
})
