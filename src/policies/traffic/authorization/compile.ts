import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { compileRules, expressionsOf } from '../../shared/authorization/rules.ts'
import { readsA2aMethod, readsRequestBody } from '../../shared/body-use.ts'
import { allows, planAuthorization, runAuthorization } from './run.ts'
import type { AuthorizationSpec } from './schema.ts'

export function compileAuthorization(
  sources: readonly PolicySource<AuthorizationSpec>[],
  context: CompileContext,
): RequestRun {
  const rules = compileRules(sources, context, 'request')
  const expressions = expressionsOf(rules)
  const plan = planAuthorization(rules, readsA2aMethod(expressions))
  const use = readsRequestBody(expressions)
  return {
    request: (exchange) => runAuthorization(plan, exchange),
    readsRequestBody: use,
    ...(use !== false && { allows: (exchange) => allows(plan, exchange) }),
  }
}
