import type { IdpCall } from './idp-call.ts'

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
  /** What was asked: `POST /realms/shop/...`. */
  readonly asked: string
  /** What came back. */
  readonly answer: string
  /** What to do. */
  readonly advice: string

  constructor(step: Step, { method, path }: Pick<IdpCall, 'method' | 'path'>, answer: string, advice: string) {
    super(`step ${step} (${STEPS[step]}) failed: ${method} ${path}: ${answer}; ${advice}`)
    this.step = step
    this.asked = `${method} ${path}`
    this.answer = answer
    this.advice = advice
  }
}
