import type { PasswordChecker, PasswordVerdict } from '#policies/shared/authentication/password-checker.ts'
import { PasswordMemory } from './password-memory.ts'
import { equalHashes, isSha1, sha1Hash } from './sha1-hash.ts'
import type { SlowHashes } from './slow-hashes.ts'

/** The checker of a proxy worker: remembers right passwords, joins equal checks, and leaves slow hashes to another thread. */
export class ThreadChecker implements PasswordChecker {
  readonly #slow: Pick<SlowHashes, 'check'>
  readonly #memory = new PasswordMemory()
  /** Checks in progress by digest: equal requests at the same time cost one. */
  readonly #pending = new Map<string, Promise<PasswordVerdict>>()

  constructor(slow: Pick<SlowHashes, 'check'>) {
    this.#slow = slow
  }

  check(password: string, hash: string, decoyFor?: string): PasswordVerdict | Promise<PasswordVerdict> {
    // A SHA-1 costs less than a look-up.
    if (isSha1(hash)) return verdictOf(equalHashes(sha1Hash(password), hash), decoyFor)
    const digest = this.#memory.digestOf(hash, password, ...(decoyFor === undefined ? [] : [decoyFor]))
    if (this.#memory.has(digest)) return 'right'
    return this.#pending.get(digest) ?? this.#start(digest, password, hash, decoyFor)
  }

  #start(digest: string, password: string, hash: string, decoyFor: string | undefined) {
    const asked = this.#slow.check(password, hash)
    if (asked === 'busy') return asked
    const pending = asked.then((asked) => {
      this.#pending.delete(digest)
      const verdict = asked === 'busy' ? asked : verdictOf(asked === 'right', decoyFor)
      if (verdict === 'right') this.#memory.add(digest)
      return verdict
    })
    this.#pending.set(digest, pending)
    return pending
  }
}

function verdictOf(matches: boolean, decoyFor: string | undefined): PasswordVerdict {
  return matches && decoyFor === undefined ? 'right' : 'wrong'
}
