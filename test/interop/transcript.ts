import { isDeepStrictEqual } from 'node:util'

/** Prints one line per check: `ok`, or what differs. */
export class Transcript {
  checks = 0
  failures = 0
  /** Name of the part that runs. */
  part = ''

  check(what: string, seen: unknown, expected: unknown): void {
    this.checks++
    const same = isDeepStrictEqual(seen, expected)
    console.log(`${same ? 'ok  ' : 'FAIL'} ${this.part}: ${what}`)
    if (same) return
    this.failures++
    console.log(`     ${JSON.stringify(seen)} instead of ${JSON.stringify(expected)}`)
  }

  /** The part cannot go on. */
  fail(why: string): void {
    this.failures++
    console.log(`FAIL ${this.part}: ${why}`)
  }
}
