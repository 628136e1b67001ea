import { celExpression, defaulted, enumOf, list, object, type Parsed, required } from '#schema/index.ts'

/** CEL authorization (specification 2, 2.2.2): used on connections, on requests and on MCP items. */
export const authorization = object({
  policy: required(
    object({
      matchExpressions: required(
        list(celExpression(), { min: 1, max: 256 }),
        'Expressions that yield true or false. One that fails to evaluate does not match.',
      ),
    }),
    'What the rule looks at.',
  ),
  action: defaulted(
    enumOf('Allow', 'Deny', 'Require'),
    'Allow',
    'Allow: any matching expression lets the request pass, and a request that no Allow rule matches is refused. ' +
      'Deny: any matching expression refuses. Require: all expressions must match.',
  ),
})

export type AuthorizationSpec = Parsed<typeof authorization>
