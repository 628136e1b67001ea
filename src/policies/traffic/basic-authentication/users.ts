import { sipHash, sipHashed } from '#base/sip-hash.ts'
import { faultOfHash } from '../../shared/authentication/password-hash.ts'

/** A line that cannot be used, or is overridden. */
export interface LineProblem {
  /** Index of the line, from 0. */
  readonly line: number
  readonly kind: 'invalid' | 'duplicate'
  /** Continues a sentence about the line; has no part of the hash. */
  readonly message: string
}

/** The users of a policy, with their hashes. A user whose line is invalid has none. */
export class Users {
  readonly problems: readonly LineProblem[]
  /** By user; undefined: the line of the user is invalid. */
  readonly #hashes: ReadonlyMap<string, string | undefined>
  readonly #all: readonly string[]
  /** Secret of this list, so that a decoy cannot be attributed to a user. */
  readonly #secret = crypto.getRandomValues(new Int32Array(4))

  /** @param lines lines of a htpasswd file; blank ones and comments are ignored if they are undefined */
  constructor(lines: readonly (string | undefined)[]) {
    const hashes = new Map<string, string | undefined>()
    const problems: LineProblem[] = []
    for (const [line, text] of lines.entries()) {
      if (text === undefined) continue
      const colon = text.indexOf(':')
      if (colon <= 0) {
        problems.push({ line, kind: 'invalid', message: 'is not <username>:<password_hash>' })
        continue
      }
      const name = text.slice(0, colon)
      const [hash = ''] = text.slice(colon + 1).split(':', 1)
      const fault = faultOfHash(hash)
      if (hashes.has(name)) {
        problems.push({ line, kind: 'duplicate', message: `overrides an earlier line of user ${JSON.stringify(name)}` })
      }
      if (fault !== undefined) {
        problems.push({ line, kind: 'invalid', message: `user ${JSON.stringify(name)}: ${fault}` })
      }
      hashes.set(name, fault === undefined ? hash : undefined)
    }
    this.problems = problems
    this.#hashes = hashes
    this.#all = [...hashes.values()].filter((hash) => hash !== undefined)
  }

  get isEmpty(): boolean {
    return this.#all.length === 0
  }

  hashOf(name: string): string | undefined {
    return this.#hashes.get(name)
  }

  /** Whether a line names the user, even an invalid one. */
  has(name: string): boolean {
    return this.#hashes.has(name)
  }

  /**
   * The hash that a check of an unknown user computes: always the same for a name, and distributed like those of known users, so that the
   * time of a refusal does not show whether a user exists.
   */
  decoyFor(name: string): string {
    sipHash(name, this.#secret)
    return this.#all[(sipHashed.low >>> 0) % this.#all.length]!
  }
}

/** Lines of a htpasswd file; undefined: a blank line or a comment. */
export function linesOf(file: string): readonly (string | undefined)[] {
  return file.split(/\r?\n/).map((line) => (line.trim() === '' || line.startsWith('#') ? undefined : line.trim()))
}
