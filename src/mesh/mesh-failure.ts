/**
 * Why there is no new certificate. The reasons are stable: the log and metrics use them.
 * - `roots`: the file with the root certificates of the mesh cannot be used
 * - `token`: the file with the token cannot be used
 * - `unreachable`: the CA cannot be reached, or does not answer in time
 * - `untrusted`: the server at its address does not have a certificate that the mesh trusts
 * - `refused`: the CA answered with an error
 * - `answer`: what the CA sent cannot be used
 */
export const FAILURE_REASONS = ['roots', 'token', 'unreachable', 'untrusted', 'refused', 'answer'] as const
export type FailureReason = (typeof FAILURE_REASONS)[number]

/** The message is for operators, and contains no credential. */
export class MeshFailure extends Error {
  override readonly name = 'MeshFailure'
  readonly reason: FailureReason

  constructor(reason: FailureReason, message: string) {
    super(message)
    this.reason = reason
  }
}
