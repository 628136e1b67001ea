import type { Expression, ExpressionEnvironment } from '#exchange/expression.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import type { AttributeAddSpec } from './attributes.ts'

/** A name and the expression for its value (specification 2, 2.1). The caller decides what a failure means. */
export interface Attribute {
  readonly name: string
  readonly expression: Expression
}

export function compileAttributes(
  source: PolicySource<unknown>,
  path: string,
  specs: readonly AttributeAddSpec[],
  environment: ExpressionEnvironment,
  context: CompileContext,
): readonly Attribute[] {
  return specs.map(({ name, expression }, index) => ({
    name,
    expression: context.expression(source, `${path}[${index}].expression`, expression, environment),
  }))
}
