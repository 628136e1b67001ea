import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, type Refusal } from '#exchange/outcome.ts'
import { afterwards } from '#exchange/step.ts'
import {
  type CredentialLocation,
  INVALID,
  readCredential,
  removeCredential,
} from '../../shared/authentication/credential-location.ts'
import type { PasswordChecker, PasswordVerdict } from '../../shared/authentication/password-checker.ts'
import { readUserPassword } from './read-credential.ts'
import type { BasicAuthenticationSpec } from './schema.ts'
import type { Users } from './users.ts'

export interface BasicPlan {
  readonly mode: BasicAuthenticationSpec['mode']
  readonly location: CredentialLocation
  readonly users: Users
  readonly passwords: PasswordChecker
  readonly missing: Refusal
  /** The same for an unknown user and a wrong password. */
  readonly invalid: Refusal
  readonly busy: Refusal
}

/** Checks user name and password (specification 1, 5.4). A right credential is removed from the request (decision A-59). */
export function runBasic(plan: BasicPlan, exchange: Exchange): Outcome | Promise<Outcome> {
  const credential = readCredential(plan.location, exchange)
  if (credential === undefined) return plan.mode === 'Strict' ? plan.missing : proceed
  const read = credential === INVALID ? undefined : readUserPassword(credential)
  if (credential === INVALID || read === undefined || plan.users.isEmpty) return plan.invalid

  const { username, password } = read
  const hash = plan.users.hashOf(username)
  const verdict =
    hash === undefined
      ? plan.passwords.check(password, plan.users.decoyFor(username), username)
      : plan.passwords.check(password, hash)
  const conclude = (verdict: PasswordVerdict): Outcome => {
    if (verdict !== 'right') return verdict === 'busy' ? plan.busy : plan.invalid
    removeCredential(plan.location, exchange.request)
    exchange.identity.basicAuth = { username, credential }
    return proceed
  }
  return verdict instanceof Promise ? afterwards(exchange, verdict, conclude) : conclude(verdict)
}
