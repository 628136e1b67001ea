import { defineSetting } from '../../policy.ts'
import { compileMetrics } from './compile.ts'

export const metrics = defineSetting({
  section: 'frontend',
  field: 'metrics',
  merge: 'replace',
  compile: compileMetrics,
})
