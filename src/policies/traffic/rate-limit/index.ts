import { definePolicy } from '../../policy.ts'
import { compileRateLimit } from './compile.ts'
import { trafficRateLimit } from './schema.ts'

export { chargeTokens } from './run.ts'

export const rateLimit = definePolicy({
  section: 'traffic',
  field: 'rateLimit',
  schema: trafficRateLimit,
  merge: 'members',
  protects: true,
  compile: compileRateLimit,
})
