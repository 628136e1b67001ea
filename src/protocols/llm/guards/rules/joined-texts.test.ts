import { expect, test } from 'vitest'
import { sampleSize } from '#test/support/sample-size.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { changesAtEnd } from './joined-scanner.ts'
import { MaskPipeline, type RuleChains } from './mask-pipeline.ts'
import {
  BUILTIN_TEXTS,
  CHARS,
  FEW_CHARS,
  maskTogether,
  maskWhole,
  OPEN_PATTERNS,
  PATTERNS,
  ruleHolding,
  sharedRules,
} from './testing.ts'
import type { TextRule } from './text-rule.ts'

interface Given {
  /** The first texts of each sequence. */
  readonly first: readonly (readonly string[])[]
  /** Texts that follow in all sequences. */
  readonly last: readonly string[]
}

const textsOf = ({ first, last }: Given): readonly string[] => [...first.flat(), ...last]

/** The texts masked as parts of one body. */
function maskWholes(rules: readonly TextRule[], { first, last }: Given): readonly string[] {
  let count = 0
  const numbersOf = (texts: readonly string[]) => texts.map(() => count++)
  const firsts = first.map(numbersOf)
  const lasts = numbersOf(last)
  return maskTogether(
    rules,
    textsOf({ first, last }),
    firsts.map((own) => [...own, ...lasts]),
  )
}

interface Streamed {
  readonly texts: readonly string[]
  /** A match includes text that has already left. */
  readonly isEnded: boolean
}

interface Arrival {
  /** Divides a text into the pieces in which it arrives. */
  split(text: string): string[]
  /** Between two pieces the search goes on with a copy. */
  isCopied(): boolean
}

/** The same as a stream. */
function maskInStream(rules: readonly TextRule[], { first, last }: Given, arrival: Arrival): Streamed {
  const chains: (RuleChains | undefined)[] = first.map(() => undefined)
  const texts: string[] = []
  const mask = (text: string, sequences: readonly number[]): boolean => {
    const joined = [...new Set(sequences.map((sequence) => chains[sequence]))].filter((each) => each !== undefined)
    const numbers = sequences.map((sequence) => joined.indexOf(chains[sequence]!))
    let pipeline = new MaskPipeline(rules, { joined })
    let masked = ''
    const take = () => {
      for (const piece of pipeline.take()) masked += piece.text
    }
    for (const piece of arrival.split(text)) {
      pipeline.push(0, piece)
      take()
      if (arrival.isCopied()) pipeline = copyOf(pipeline)
    }
    pipeline.finish(true)
    take()
    texts.push(masked)
    for (const [at, sequence] of sequences.entries()) chains[sequence] = pipeline.chains(numbers[at]!)
    return !pipeline.overran
  }
  const isMasked =
    first.every((own, sequence) => own.every((text) => mask(text, [sequence]))) &&
    last.every((text) => mask(text, [...first.keys()]))
  return { texts, isEnded: !isMasked || chains.some((each) => each?.some(changesAtEnd)) }
}

/** What happens to the first one changes nothing in the other one. */
function copyOf(pipeline: MaskPipeline): MaskPipeline {
  const copy = pipeline.fork()
  pipeline.push(0, 'ab1c')
  pipeline.finish(true)
  pipeline.chains(-1)
  return copy
}

test.each<[what: string, matches: string[], texts: string[], masked: string[] | undefined]>([
  ['alone and together', ['\\bab'], ['x', 'ab'], ['x', '<masked>']],
  ['only together', ['\\Bab'], ['x', 'ab'], ['x', '<masked>']],
  ['only alone', ['^ab', 'b$'], ['ab', 'ab', '.'], ['<masked>', '<masked>', '.']],
  ['a match across', ['ab'], ['xa', 'b'], undefined],
  ['a match in the text before, which this one decides', ['ab\\B'], ['ab', 'c'], undefined],
  ['the same, if the text before was masked', ['ab\\B', 'ab'], ['ab', 'c'], undefined],
  ['a match across whose share in the text before was masked', ['a$|ab'], ['xa', 'b.'], ['x<masked>', '<masked>.']],
  ['a longer share in the text before', ['a$|xab'], ['xa', 'b.'], undefined],
  ['one match instead of two in the text before', ['a$', 'x'], ['xa', '.'], ['<masked><masked>', '.']],
  ['a match across three texts', ['abc'], ['a', 'b', 'c'], undefined],
  ['a match across, over an empty text', ['abc'], ['a', '', 'bc'], undefined],
  ['a match that grows', ['a+'], ['xa', 'aa', 'a.'], ['x<masked>', '<masked>', '<masked>.']],
  ['a match that the end of its text makes longer', ['a(?:bc|b$)*'], ['abcb', 'c.'], ['<masked>', '<masked>.']],
  ['the end of all texts', ['ba$'], ['b', 'a'], undefined],
  ['not the end of all texts', ['ba$'], ['b', 'a', '.'], ['b', 'a', '.']],
  ['what an earlier rule has left', ['b', 'a<masked>c'], ['ab', 'c'], undefined],
  ['what an earlier rule has masked', ['b', 'abc'], ['ab', 'c'], ['a<masked>', 'c']],
  [
    'text that one rule lets pass while a match of another one is open',
    ['\\bfox', 'q[^z]*z'],
    ['q ', 'efox'],
    ['q ', 'efox'],
  ],
  ['matches from the beginning of the first text on', ['aa'], ['aaa', 'aa'], undefined],
  [
    'matches within a text that is open for too long',
    ['BEGIN(?s:.)*END|x+'],
    [`BEGIN${'-'.repeat(300)}x1x`, 'xx2x', `${'-'.repeat(300)}x`],
    [`BEGIN${'-'.repeat(300)}<masked>1<masked>`, '<masked>2<masked>', `${'-'.repeat(300)}<masked>`],
  ],
  ['the end of all texts, of which the last is masked alone', ['\\bb$|bc'], ['a', 'b'], ['a', '<masked>']],
  [
    'a match that grows, in a text that is open for too long',
    ['"[^-]*-|a+'],
    [`"${'y'.repeat(300)}aaa`, 'aa.'],
    [`"${'y'.repeat(300)}<masked>`, '<masked>.'],
  ],
  ['a match that is open for too long', ['BEGIN(?s:.)*END|x+'], [`BEGIN${'-'.repeat(300)}x1x`, 'xx', 'END'], undefined],
])('%s', (_, matches, texts, masked) => {
  const rules = sharedRules({ matches })
  const given = { first: [[]], last: texts }
  for (let longest = 1; longest < 4; longest++) {
    for (const isCopied of [false, true]) {
      const split = (text: string) => seededRandom(longest).pieces(text, longest)
      const streamed = maskInStream(rules, given, { split, isCopied: () => isCopied })
      expect(streamed.isEnded).toBe(masked === undefined)
      if (masked !== undefined) expect(streamed.texts).toEqual(masked)
    }
  }
  if (masked !== undefined) expect(maskWholes(rules, given)).toEqual(masked)
})

test('texts that are read together are masked in a stream as in one body, or the stream ends', () => {
  const random: SeededRandom = seededRandom(7)
  const rules = sharedRules({ matches: [...PATTERNS, ...OPEN_PATTERNS] })
  const builtins = sharedRules({ builtins: BUILTIN_TEXTS.map(([name]) => name) })
  const brief = OPEN_PATTERNS.flatMap((pattern) => [1, 2, 4].map((limit) => ruleHolding(pattern, limit)))
  const text = (chars: readonly string[]) =>
    Array.from({ length: random.below(chars === CHARS ? 7 : 12) }, () => random.pick(chars)).join('')
  const arrival = { split: (part: string) => random.pieces(part, 4), isCopied: () => random.below(4) === 0 }
  let [ended, masked] = [0, 0]
  const count = sampleSize(1_000, 100_000)
  for (let each = 0; each < count; each++) {
    const isBrief = random.below(2) === 0
    const picked = Array.from({ length: 1 + random.below(isBrief ? 2 : 3) }, () =>
      random.pick(isBrief ? brief : random.below(8) === 0 ? builtins : rules),
    )
    const some = (most: number) => Array.from({ length: most }, () => text(isBrief ? FEW_CHARS : CHARS))
    const given = {
      first: Array.from({ length: 1 + random.below(3) }, () => some(random.below(3))),
      last: some(1 + random.below(2)),
    }
    const whole = maskWholes(picked, given)
    const streamed = maskInStream(picked, given, arrival)
    const texts = textsOf(given)
    const about = `${each}: ${JSON.stringify({ rules: picked.map(({ label }) => label), given })}`
    if (!streamed.isEnded) expect(streamed.texts, about).toEqual(whole)
    else if (!isBrief && picked.length === 1) {
      // Something changes because the texts are read together.
      expect(whole, about).not.toEqual(texts.map((alone) => maskWhole(picked, alone)))
    }
    if (streamed.isEnded) ended++
    if (whole.join() !== texts.join()) masked++
  }
  expect(ended).toBeGreaterThan(count / 100)
  expect(masked).toBeGreaterThan(count / 4)
}, 120_000)
