import type { CompileContext, PolicyDestination, PolicySource } from '../../../policy.ts'
import type { CredentialRequest } from '../../../shared/clouds/cloud-credential.ts'
import type { AuthForm } from '../schema.ts'
import type { Unusable } from '../unusable.ts'

/** A request for a token, and what to call the token. */
export interface TokenRequest {
  readonly request: CredentialRequest
  readonly label: string
}

/** Builds the request for a token. `destination` is undefined if the policy is compiled for itself: the result is then only checked. */
export type BuildRequest = (
  source: PolicySource<AuthForm>,
  destination: PolicyDestination | undefined,
  context: CompileContext,
) => TokenRequest | Unusable
