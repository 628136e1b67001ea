import { type Refusal, reject } from '#exchange/outcome.ts'
import type { Unavailable } from './authorization-server.ts'
import type { SignInEndpoint } from './endpoint.ts'
import { corsFields } from './json-answer.ts'

const BODY = JSON.stringify({
  error: 'temporarily_unavailable',
  error_description: 'the authorization server is not available',
})

/** The identity provider does not answer as it must; the client learns no details. */
export function unavailable(kind: SignInEndpoint['kind'], { why }: Unavailable): Refusal {
  return reject('sign-in-unavailable', {
    detail: why,
    headers: corsFields(kind),
    body: BODY,
    contentType: 'application/json',
  })
}
