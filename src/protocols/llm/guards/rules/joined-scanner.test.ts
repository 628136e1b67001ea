import { expect, test } from 'vitest'
import type { ScannedMatch, TextScanner } from '#base/pattern/text-scanner.ts'
import { JoinedScanner, type LeftText, type RuleChain } from './joined-scanner.ts'

/** What a search knows after a piece. */
interface Step {
  readonly settled: number
  readonly found?: readonly ScannedMatch[]
}

/** A search that finds the same in each text. */
class ScriptedScanner implements TextScanner {
  readonly overran = false
  readonly #steps: readonly Step[]
  #at: number
  #found: readonly ScannedMatch[] = []

  /** @param steps the first one is before the first piece */
  constructor(steps: readonly Step[], at = 0) {
    this.#steps = steps
    this.#at = at
  }

  get settled(): number {
    return this.#steps[this.#at]!.settled
  }

  get isIdle(): boolean {
    return this.#steps.length === 1
  }

  push(): void {
    this.#at++
    this.#found = this.#steps[this.#at]!.found ?? []
  }

  finish(): void {}

  skip(): void {}

  takeMatches(): readonly ScannedMatch[] {
    const found = this.#found
    this.#found = []
    return found
  }

  fork(): ScriptedScanner {
    const fork = new ScriptedScanner(this.#steps, this.#at)
    fork.#found = this.#found
    return fork
  }

  agreesWith(): boolean {
    return false
  }
}

/** A search behind a text, of which these ranges were masked. */
function chainOf(length: number, masked: LeftText['masked'], steps: readonly Step[], settled = 0): RuleChain {
  const left: readonly LeftText[] = length === 0 ? [] : [{ start: 0, end: length, masked }]
  return { scanner: new ScriptedScanner([{ settled }, ...steps]), length, left }
}

const begins = (start: number, end: number) => ({ start, end, continues: false })
const goesOn = (start: number, end: number) => ({ start, end, continues: true })

/** Positions of the joined search are one more: it stands behind a text of one character. */
test.each<[what: string, alone: Step[], joined: Step[], found: ScannedMatch[]]>([
  [
    'a match leaves as far as both have settled it, and then its rest',
    [{ settled: 5, found: [begins(3, 5)] }, { settled: 6 }],
    [{ settled: 5 }, { settled: 7 }],
    [begins(3, 4), goesOn(4, 5)],
  ],
  [
    'a match that goes on is one with another that begins there',
    [{ settled: 2 }, { settled: 4, found: [begins(2, 4)] }],
    [
      { settled: 3, found: [begins(1, 3)] },
      { settled: 5, found: [goesOn(3, 4)] },
    ],
    [begins(0, 2), goesOn(2, 4)],
  ],
  [
    'the same, if the other one is known before',
    [{ settled: 4, found: [begins(2, 4)] }, { settled: 4 }],
    [
      { settled: 3, found: [begins(1, 3)] },
      { settled: 5, found: [goesOn(3, 4)] },
    ],
    [begins(0, 2), goesOn(2, 4)],
  ],
  [
    'matches that meet are two',
    [{ settled: 2, found: [begins(0, 2)] }, { settled: 4 }],
    [{ settled: 3 }, { settled: 5, found: [begins(3, 5)] }],
    [begins(0, 2), begins(2, 4)],
  ],
])('%s, also in a copy', (_, alone, joined, found) => {
  for (const isCopied of [false, true]) {
    let scanner = new JoinedScanner({ alone: chainOf(0, [], alone), joined: [chainOf(1, [], joined)] })
    const taken: ScannedMatch[] = []
    for (let step = 0; step < alone.length; step++) {
      scanner.push('')
      if (isCopied) scanner = scanner.fork()
      taken.push(...scanner.takeMatches())
      expect(scanner.settled).toBe(Math.min(alone[step]!.settled, joined[step]!.settled - 1))
    }
    expect(taken).toEqual(found)
    expect(scanner.overran).toBe(false)
  }
})

test('text that is skipped is settled', () => {
  const scanner = new JoinedScanner({ alone: chainOf(0, [], []), joined: [] })
  expect(scanner.isIdle).toBe(true)
  scanner.skip('abc')
  expect(scanner.settled).toBe(3)
})

test('a copy of a search that would change text that has left would, too', () => {
  const found = [begins(0, 2)]
  const scanner = new JoinedScanner({
    alone: chainOf(0, [], [{ settled: 1 }]),
    joined: [chainOf(1, [], [{ settled: 2, found }])],
  })
  scanner.push('')
  expect([scanner.overran, scanner.fork().overran]).toEqual([true, true])
})
