import { strongestUse } from '#exchange/body-use.ts'
import { proceed, reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { choose, compileChoices, conditionsOf, warnWithoutFallback } from '../../shared/choose.ts'
import { compileExtAuth } from '../../shared/ext-auth/compile-ext-auth.ts'
import type { ExtAuthRun } from '../../shared/ext-auth/site.ts'
import { judgeContent } from '../../shared/judge-content.ts'
import { compileExternalAuthFilter, type ExternalAuthFilter } from './external-auth-filter.ts'
import type { ExtAuthSection, ExtAuthSpec } from './schema.ts'

/** A condition that does not compile refuses (decision A-31), because it is unknown whether its item applies. */
const REFUSE_UNKNOWN = reject('ext-auth-denied', { detail: 'a condition of extAuth does not compile' })

/** A filter of a route rule takes precedence over policies, as for all fields (decision A-22). */
export function compileTrafficExtAuth(
  sources: readonly PolicySource<ExtAuthSection | ExternalAuthFilter>[],
  context: CompileContext,
): PolicyRun {
  const source = sources[0]!
  const { spec } = source
  if ('protocol' in spec) return compileExternalAuthFilter({ ...source, spec }, context)
  return compileSection({ ...source, spec }, context)
}

function compileSection(source: PolicySource<ExtAuthSection>, context: CompileContext): PolicyRun {
  const choices = compileChoices<ExtAuthSpec, ExtAuthRun>(source, context, (spec, path) =>
    compileExtAuth(source, path, spec, context),
  )
  const [only] = choices
  if (only !== undefined && only.condition === undefined) return only.policy
  warnWithoutFallback(source, choices, context, 'requests pass without external authorization')
  const conditions = conditionsOf(choices)
  if (conditions.some(({ broken }) => broken)) return { request: () => REFUSE_UNKNOWN }
  const use = readsRequestBody(conditions)
  const policies = choices.map(({ policy }) => policy)
  return {
    request: (exchange) =>
      judgeContent(
        exchange,
        use !== false,
        () => choose(choices, exchange),
        (chosen) => chosen?.request(exchange) ?? proceed,
      ),
    readsRequestBody: strongestUse([use, ...policies.map((one) => one.readsRequestBody)]),
    fields: { request: policies.flatMap(({ fields }) => fields?.request ?? []) },
  }
}
