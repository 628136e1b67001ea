import { type BackendNeed, definePolicy } from '../../policy.ts'
import { compileRateLimit } from './compile.ts'
import { type RateLimitSection, type RateLimitSpec, trafficRateLimit } from './schema.ts'

export { chargeTokens } from './run-local.ts'

export const rateLimit = definePolicy({
  section: 'traffic',
  field: 'rateLimit',
  schema: trafficRateLimit,
  merge: 'members',
  protects: true,
  needs: neededBackends,
  compile: compileRateLimit,
})

/** Only LLM calls use tokens. */
function neededBackends(spec: RateLimitSection): readonly BackendNeed[] {
  if (spec.conditional === undefined) return tokenEntries(spec, '')
  return spec.conditional.flatMap(({ policy }, i) => tokenEntries(policy, `.conditional[${i}].policy`))
}

function tokenEntries({ local = [] }: RateLimitSpec, at: string): readonly BackendNeed[] {
  return local.flatMap(({ tokens }, i): BackendNeed[] => {
    if (tokens === undefined) return []
    return [{ path: `${at}.local[${i}].tokens`, backendsWith: 'tokens', otherwise: 'no tokens are counted' }]
  })
}
