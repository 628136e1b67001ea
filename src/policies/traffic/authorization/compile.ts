import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { compileRules, expressionsOf } from '../../shared/authorization/rules.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { allows, planAuthorization, runAuthorization } from './run.ts'
import type { AuthorizationSpec } from './schema.ts'

export function compileAuthorization(
  sources: readonly PolicySource<AuthorizationSpec>[],
  context: CompileContext,
): RequestRun {
  const rules = compileRules(sources, context, 'request')
  const plan = planAuthorization(rules)
  const use = readsRequestBody(expressionsOf(rules))
  return {
    request: (exchange) => runAuthorization(plan, exchange),
    readsRequestBody: use,
    ...(use !== false && { allows: (exchange) => allows(plan, exchange) }),
  }
}
