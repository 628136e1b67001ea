import { describeOrigin } from '#base/origin.ts'
import type { Expression, ExpressionUse } from '#exchange/expression.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import type { GlobalDescriptor, GlobalLimit } from './run-global.ts'
import type { GlobalRateLimitSpec, RateLimitSection } from './schema.ts'

type Source = PolicySource<RateLimitSection>
type DescriptorSpec = GlobalRateLimitSpec['descriptors'][number]

/** @param path of the limits, relative to the source */
export function compileGlobal(
  source: Source,
  path: string,
  spec: GlobalRateLimitSpec,
  context: CompileContext,
): GlobalLimit {
  if (spec.failureMode === 'FailOpen') {
    const message = 'requests pass without this limit while the server fails, and a client may be able to overload it'
    context.report(source, `${path}.global.failureMode`, { severity: 'advice', code: 'fails-open', message })
  }
  const descriptors = spec.descriptors.map((descriptor, index) =>
    compileDescriptor(source, `${path}.global.descriptors[${index}]`, descriptor, context),
  )
  return {
    destination: context.calledBackend(source, spec.backendRef),
    failOpen: spec.failureMode === 'FailOpen',
    domain: spec.domain,
    requests: descriptors.filter(({ unit }) => unit === 'Requests'),
    tokens: descriptors.filter(({ unit }) => unit === 'Tokens'),
    broken: descriptors.some(isBroken),
    where: `${describeOrigin(source.origin)}, ${source.path}${path}.global`,
  }
}

function isBroken({ entries, cost }: GlobalDescriptor): boolean {
  return cost?.broken === true || entries.some(({ value }) => value.broken)
}

/** All expressions that are evaluated before the request is sent. */
export function expressionsBefore({ requests, tokens }: GlobalLimit): Expression[] {
  const entries = [...requests, ...tokens].flatMap(({ entries }) => entries.map(({ value }) => value))
  return [...entries, ...requests.flatMap(({ cost }) => cost ?? [])]
}

function compileDescriptor(
  source: Source,
  path: string,
  { unit, entries, cost }: DescriptorSpec,
  context: CompileContext,
): GlobalDescriptor {
  const present = context.guaranteed(source)
  const compile = (
    at: string,
    text: string,
    environment: 'request' | 'request-cost' | 'token-cost',
    use: ExpressionUse,
  ) => {
    const expression = context.expression(source, at, text, environment, use, present)
    warnOfFailure(source, at, expression, context)
    return expression
  }
  return {
    unit,
    entries: entries.map(({ name, expression }, index) => ({
      name,
      value: compile(`${path}.entries[${index}].expression`, expression, 'request', 'key'),
    })),
    cost:
      cost === undefined
        ? undefined
        : compile(`${path}.cost`, cost, unit === 'Requests' ? 'request-cost' : 'token-cost', 'value'),
  }
}

/** A client that can make an expression fail is not limited by the descriptor (decision A-83). */
function warnOfFailure(source: Source, path: string, { canFail }: Expression, context: CompileContext): void {
  if (canFail === undefined) return
  const message = `the descriptor does not limit requests for which this expression fails: ${canFail}`
  context.report(source, path, { severity: 'warning', code: 'limit-descriptor-can-fail', message })
}
