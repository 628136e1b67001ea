import { defineSetting } from '../../policy.ts'
import { compileHealth } from './compile.ts'

export type { HealthSetting } from './compile.ts'

export const health = defineSetting({
  section: 'backend',
  field: 'health',
  merge: 'replace',
  compile: compileHealth,
})
