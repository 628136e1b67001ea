import type { BodyUse } from '#exchange/body-use.ts'
import type { Expression } from '#exchange/expression.ts'

type MaybeExpression = Expression | undefined

/**
 * The part of the request body that expressions read, which must be buffered before the policies of their phase run (specification 2, 2.1;
 * decision A-49).
 */
export function readsRequestBody(expressions: Iterable<MaybeExpression>): BodyUse {
  return useOf(expressions, 'request')
}

export function readsResponseBody(expressions: Iterable<MaybeExpression>): BodyUse {
  return useOf(expressions, 'response')
}

function useOf(expressions: Iterable<MaybeExpression>, message: 'request' | 'response'): BodyUse {
  let use: BodyUse = false
  for (const expression of expressions) {
    if (expression?.references.has(`${message}.body`)) return true
    if (expression?.references.has(`${message}.bodyPrefix`)) use = 'prefix'
  }
  return use
}
