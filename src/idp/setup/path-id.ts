import { memberOf } from './answer-text.ts'
import type { IdpCall } from './idp-call.ts'
import { type Step, StepFailure } from './step-failure.ts'

/**
 * The id of an object in an answer, as a part of a path.
 * @throws StepFailure if there is none, or one that leads to another path
 */
export function pathId(step: Step, call: IdpCall, object: unknown): string {
  const id = memberOf(object, 'id')
  if (typeof id === 'string' && /^[\w{}-]{1,100}$/.test(id)) return encodeURIComponent(id)
  throw new StepFailure(step, call, 'an object has no usable id', 'check that --url is a Keycloak-compatible provider')
}
