import { celExpression, defaulted, enumOf, list, object, type Parsed, required } from '#schema/index.ts'

/** CEL authorization (specification 2, 2.2.2), for connections, requests and MCP items. */
export const authorization = object({
  policy: required(
    object({
      matchExpressions: required(
        list(celExpression(), { min: 1, max: 256 }),
        'CEL expressions of type bool. An expression that fails to evaluate does not match.',
      ),
    }),
    'Conditions of the rule.',
  ),
  action: defaulted(
    enumOf('Allow', 'Deny', 'Require'),
    'Allow',
    'Allow: a request is allowed if any expression matches, and refused if no Allow rule matches. ' +
      'Deny: a request is refused if any expression matches. Require: a request is refused unless all expressions match.',
  ),
})

export type AuthorizationSpec = Parsed<typeof authorization>
