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
  /** Clients get the same for every credential; without any user its detail says so. */
  readonly invalid: Refusal
  readonly busy: Refusal
}

/** Checks user name and password (specification 1, 5.4). A right credential is removed from the request (decision A-59). */
export function runBasic(plan: BasicPlan, exchange: Exchange): Outcome | Promise<Outcome> {
  const credential = readCredential(plan.location, exchange)
  if (credential === undefined) return plan.mode === 'Strict' ? plan.missing : proceed
  if (plan.users.isEmpty) return plan.invalid
  if (credential === INVALID) return refuse(plan, 'the request has different credentials, or one that cannot be read')
  const read = readUserPassword(credential)
  if (read === undefined) {
    return refuse(plan, 'the credential is not base64 of <username>:<password> in UTF-8, or the password is too long')
  }

  const { username, password } = read
  const hash = plan.users.hashOf(username)
  const verdict =
    hash === undefined
      ? plan.passwords.check(password, plan.users.decoyFor(username), username)
      : plan.passwords.check(password, hash)
  const conclude = (verdict: PasswordVerdict): Outcome => {
    if (verdict !== 'right') return verdict === 'busy' ? plan.busy : refuse(plan, whyWrong(plan.users, username))
    removeCredential(plan.location, exchange.request)
    exchange.identity.basicAuth = { username, credential }
    return proceed
  }
  return verdict instanceof Promise ? afterwards(exchange, verdict, conclude) : conclude(verdict)
}

/** @param why for operators only */
function refuse({ invalid }: BasicPlan, why: string): Refusal {
  return { ...invalid, detail: why }
}

/** Names a user only if the list does: an unknown name may be a password that was typed into the wrong field. */
function whyWrong(users: Users, username: string): string {
  if (!users.has(username)) return 'unknown user'
  const user = `user ${JSON.stringify(username)}`
  return users.hashOf(username) === undefined ? `the line of ${user} cannot be used` : `wrong password of ${user}`
}
