import type { Expression } from '#exchange/expression.ts'
import { isConnectionLevel } from '#net/http/field-name.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { choose, compileChoices, conditionsOf } from '../../shared/choose.ts'
import { judgeContent } from '../../shared/judge-content.ts'
import { answerDirectly, type DirectResponsePlan } from './run.ts'
import type { DirectResponseSection, DirectResponseSpec } from './schema.ts'

type Source = PolicySource<DirectResponseSection>

export function compileDirectResponse(sources: readonly Source[], context: CompileContext): RequestRun {
  const source = sources[0]!
  const choices = compileChoices<DirectResponseSpec, DirectResponsePlan>(source, context, (spec, path) =>
    compilePlan(source, path, spec, context),
  )
  const expressions = choices.flatMap(({ policy }) => [
    policy.bodyExpression,
    ...policy.headers.map(([, value]) => value),
  ])
  const conditions = conditionsOf(choices)
  const judges = readsRequestBody(conditions) !== false
  return {
    request: (exchange) =>
      judgeContent(
        exchange,
        judges,
        () => choose(choices, exchange),
        (plan) => plan && answerDirectly(plan, exchange),
      ),
    readsRequestBody: readsRequestBody([...conditions, ...expressions]),
  }
}

function compilePlan(
  source: Source,
  path: string,
  spec: DirectResponseSpec,
  context: CompileContext,
): DirectResponsePlan {
  const headers: (readonly [string, Expression])[] = []
  for (const [index, { name, value }] of (spec.headers ?? []).entries()) {
    const at = `${path}.headers[${index}]`
    const expression = context.expression(source, `${at}.value`, value, 'request')
    if (!isConnectionLevel(name.toLowerCase())) headers.push([name.toLowerCase(), expression])
    else {
      const message = `has no effect: ${name} is written by the connection itself`
      context.report(source, `${at}.name`, { severity: 'warning', code: 'no-effect', message })
    }
  }
  const { status, body, bodyExpression } = spec
  return {
    status,
    headers,
    body,
    bodyExpression:
      bodyExpression === undefined
        ? undefined
        : context.expression(source, `${path}.bodyExpression`, bodyExpression, 'request'),
  }
}
