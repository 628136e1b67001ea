import { defineSetting } from '../../policy.ts'
import { compileAccessLog } from './compile.ts'
import { frontendAccessLog } from './schema.ts'

export const accessLog = defineSetting({
  section: 'frontend',
  field: 'accessLog',
  schema: frontendAccessLog,
  merge: 'replace',
  compile: compileAccessLog,
})
