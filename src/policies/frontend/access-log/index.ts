import { defineSetting } from '../../policy.ts'
import { compileAccessLog } from './compile.ts'

export const accessLog = defineSetting({
  section: 'frontend',
  field: 'accessLog',
  merge: 'replace',
  compile: compileAccessLog,
})
