import type { PasswordChecker } from '#policies/shared/authentication/password-checker.ts'
import { checkHash } from './check-hash.ts'

/** Checks at once, for commands that serve no clients. */
export const DIRECT_CHECKER: PasswordChecker = {
  check: (password, hash, decoyFor) => (checkHash(password, hash) && decoyFor === undefined ? 'right' : 'wrong'),
}
