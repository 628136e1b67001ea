import type { Expression } from '#exchange/expression.ts'

type MaybeExpression = Expression | undefined

/** Whether some expression needs the body of the request before the policies of its phase run (specification 2, 2.1). */
export function readsRequestBody(expressions: Iterable<MaybeExpression>): boolean {
  return anyReads(expressions, 'request')
}

export function readsResponseBody(expressions: Iterable<MaybeExpression>): boolean {
  return anyReads(expressions, 'response')
}

function anyReads(expressions: Iterable<MaybeExpression>, message: 'request' | 'response'): boolean {
  for (const expression of expressions) {
    if (expression?.references.has(`${message}.body`) || expression?.references.has(`${message}.bodyPrefix`)) {
      return true
    }
  }
  return false
}
