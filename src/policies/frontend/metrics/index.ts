import { defineSetting } from '../../policy.ts'
import { compileMetrics } from './compile.ts'
import { frontendMetrics } from './schema.ts'

export const metrics = defineSetting({
  section: 'frontend',
  field: 'metrics',
  schema: frontendMetrics,
  merge: 'replace',
  compile: compileMetrics,
})
