import { formattedText, list, object, optional, type Parsed, required, type ScalarRefusal } from '#schema/index.ts'
import { conditions } from './condition.ts'
import { parentReference } from './parent-reference.ts'

const CONTROLLER = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/

/** The name of a controller, in the form DOMAIN/PATH. */
function checkControllerName(value: string): ScalarRefusal | undefined {
  if (CONTROLLER.test(value)) return undefined
  return { code: 'invalid-name', message: 'must have the form domain/path, such as "example.com/controller"' }
}

/** The name of a controller: a domain and a path. */
export const controllerName = () => formattedText({ min: 1, max: 253, pattern: CONTROLLER }, checkControllerName)

const policyAncestorStatus = object({
  ancestorRef: required(parentReference, 'Gateway that the policy applies to.'),
  controllerName: required(controllerName(), 'Name of the controller that wrote this entry.'),
  conditions: optional(conditions(), 'Conditions of the policy for this Gateway.'),
})

/** `status` of a ProxyPolicy (specification 1, 2.6). */
export const policyStatus = object({
  conditions: optional(conditions(), 'Summary of the conditions of all ancestors.'),
  ancestors: required(
    list(policyAncestorStatus, { max: 16 }),
    'One entry for each Gateway that the policy applies to.',
  ),
})

export type PolicyAncestorStatus = Parsed<typeof policyAncestorStatus>
export type PolicyStatus = Parsed<typeof policyStatus>
