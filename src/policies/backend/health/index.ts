import { defineSetting } from '../../policy.ts'
import { compileHealth } from './compile.ts'
import { backendHealth } from './schema.ts'

export type { HealthSetting } from './compile.ts'

export const health = defineSetting({
  section: 'backend',
  field: 'health',
  schema: backendHealth,
  merge: 'replace',
  compile: compileHealth,
})
