import { defineSetting } from '../../policy.ts'
import { compileTracing } from './compile.ts'

export const tracing = defineSetting({
  section: 'frontend',
  field: 'tracing',
  merge: 'replace',
  compile: compileTracing,
})
