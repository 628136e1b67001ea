import { defineSetting } from '../../policy.ts'
import { compileTracing } from './compile.ts'
import { frontendTracing } from './schema.ts'

export const tracing = defineSetting({
  section: 'frontend',
  field: 'tracing',
  schema: frontendTracing,
  merge: 'replace',
  compile: compileTracing,
})
