import type { IdpCall } from './idp-call.ts'
import type { IdpUser } from './idp-user.ts'

/** The steps of the procedure, by their numbers (document 1, 5.8). */
export const STEPS = {
  1: 'deploy the provider',
  2: 'address of the provider',
  3: 'admin access token',
  4: 'initial access token',
  5: 'register the client',
  6: 'update the client',
  7: 'map the attribute group',
  8: 'create users',
  9: 'remove registration policies',
  10: 'verify',
  11: 'issuer and key set',
  12: 'delete the provider',
} as const

export type Step = keyof typeof STEPS

/** Ends the procedure. All texts are for the user; none has a secret. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure'
  readonly step: Step
  /** What was asked. */
  readonly method: IdpCall['method']
  /** From the root of the provider. */
  readonly path: string
  /** What came back. */
  readonly answer: string
  /** What to do. */
  readonly advice: string
  /** Users that exist since then. Nobody else knows their passwords. */
  createdUsers: readonly IdpUser[] = []

  constructor(step: Step, { method, path }: Pick<IdpCall, 'method' | 'path'>, answer: string, advice: string) {
    super(`step ${step} (${STEPS[step]}) failed: ${method} ${path}: ${answer}; ${advice}`)
    this.step = step
    this.method = method
    this.path = path
    this.answer = answer
    this.advice = advice
  }
}
