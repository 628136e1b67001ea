/** The result of a check; `busy`: there was no time for it. */
export type PasswordVerdict = 'right' | 'wrong' | 'busy'

/** Compares passwords with hashes, away from the thread that serves requests. Passed in by the caller of the engine, which has no cryptography. */
export interface PasswordChecker {
  /**
   * @param hash one that `faultOfHash` accepts
   * @param decoyFor name of a user that does not exist: the check takes its usual time, and the password is wrong
   */
  check(password: string, hash: string, decoyFor?: string): PasswordVerdict | Promise<PasswordVerdict>
}
