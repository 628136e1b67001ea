import type { Exchange } from '#exchange/exchange.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { compileRules, expressionsOf } from '../../shared/authorization/rules.ts'
import { readsA2aMethod, readsRequestBody } from '../../shared/body-use.ts'
import { judgeContent } from '../../shared/judge-content.ts'
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
  const judge = (exchange: Exchange) => runAuthorization(plan, exchange)
  return {
    request: (exchange) => judgeContent(exchange, use !== false, judge, (outcome) => outcome),
    readsRequestBody: use,
    ...(use !== false && { allows: (exchange) => allows(plan, exchange) }),
  }
}
