import { definePolicy } from '../../policy.ts'
import { compileRateLimit } from './compile.ts'

export { chargeTokens } from './run.ts'

export const rateLimit = definePolicy({
  section: 'traffic',
  field: 'rateLimit',
  merge: 'replace',
  compile: compileRateLimit,
})
