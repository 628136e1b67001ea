import type { BodyUse } from '#exchange/body-use.ts'
import type { Expression } from '#exchange/expression.ts'
import { A2A_METHOD } from '#exchange/variables/a2a-variables.ts'
import { CLIENT_MODEL_PATH } from '#exchange/variables/client-model-variable.ts'

type MaybeExpression = Expression | undefined

/**
 * The part of the request body that expressions read, which must be buffered before the policies of their phase run (specification 2, 2.1;
 * decision A-49).
 */
export function readsRequestBody(expressions: Iterable<MaybeExpression>): BodyUse {
  const all = [...expressions]
  return readsA2aMethod(all) || useOf(all, 'request')
}

/** Whether expressions read the method of an A2A call, which can be in the body. */
export function readsA2aMethod(expressions: Iterable<MaybeExpression>): boolean {
  return [...expressions].some((expression) => expression?.references.has(A2A_METHOD))
}

/** Whether expressions of log and metrics read the request body, which must be recorded. */
export function recordsRequestBody(expressions: Iterable<MaybeExpression>): boolean {
  return useOf(expressions, 'request') !== false
}

export function readsResponseBody(expressions: Iterable<MaybeExpression>): BodyUse {
  return useOf(expressions, 'response')
}

function useOf(expressions: Iterable<MaybeExpression>, message: 'request' | 'response'): BodyUse {
  let use: BodyUse = false
  for (const expression of expressions) {
    if (expression?.references.has(`${message}.body`)) return true
    if (message === 'request' && expression?.references.has(CLIENT_MODEL_PATH)) return true
    if (expression?.references.has(`${message}.bodyPrefix`)) use = 'prefix'
  }
  return use
}
