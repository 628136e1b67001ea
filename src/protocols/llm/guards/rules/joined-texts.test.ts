import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { GuardedText } from '../guarded-text.ts'
import type { GuardedTexts } from '../guarded-texts.ts'
import { maskTexts } from '../mask-texts.ts'
import { compileRules } from './compile-rules.ts'
import { changesAtEnd } from './joined-scanner.ts'
import { MaskPipeline, type RuleChains } from './mask-pipeline.ts'
import { CHARS, maskWhole, PATTERNS } from './testing.ts'
import type { TextRule } from './text-rule.ts'

const BUILTINS = ['Ssn', 'Email', 'CreditCard', 'PhoneNumber', 'CaSin'] as const

function rulesOf(spec: Parameters<typeof compileRules>[0]): readonly TextRule[] {
  return compileRules(spec, (_, message) => {
    throw new Error(message)
  })
}

/** Texts that are read one after the other, masked as parts of one body. */
function maskTogether(rules: readonly TextRule[], texts: readonly string[]): readonly string[] {
  const guarded = texts.map((text) => new GuardedText(text, true, true))
  const body = { runs: [{ role: 'assistant', isOne: false, texts: guarded }], groups: [guarded] }
  runAtOnce(maskTexts(rules, body as unknown as GuardedTexts))
  return guarded.map(({ text }) => text)
}

interface Streamed {
  readonly texts: readonly string[]
  /** A match includes text that has already left. */
  readonly isEnded: boolean
}

/** The same as a stream. @param split a text into the pieces in which it arrives */
function maskInStream(
  rules: readonly TextRule[],
  texts: readonly string[],
  split: (text: string) => string[],
): Streamed {
  let chains: RuleChains | undefined
  const masked: string[] = []
  for (const text of texts) {
    const pipeline = new MaskPipeline(rules, { joined: chains === undefined ? [] : [chains] })
    for (const piece of split(text)) pipeline.push(0, piece)
    pipeline.finish(true)
    masked.push(
      pipeline
        .take()
        .map((piece) => piece.text)
        .join(''),
    )
    if (pipeline.overran) return { texts: masked, isEnded: true }
    chains = pipeline.chains(chains === undefined ? -1 : 0)
  }
  return { texts: masked, isEnded: chains?.some(changesAtEnd) === true }
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
  ['the end of all texts', ['ba$'], ['b', 'a'], undefined],
  ['not the end of all texts', ['ba$'], ['b', 'a', '.'], ['b', 'a', '.']],
  ['what an earlier rule has left', ['b', 'a<masked>c'], ['ab', 'c'], undefined],
  ['what an earlier rule has masked', ['b', 'abc'], ['ab', 'c'], ['a<masked>', 'c']],
  ['matches from the beginning of the first text on', ['aa'], ['aaa', 'aa'], undefined],
  [
    'matches within a text that is open for too long',
    ['BEGIN(?s:.)*END|x+'],
    [`BEGIN${'-'.repeat(300)}x1x`, 'xx2x', `${'-'.repeat(300)}x`],
    [`BEGIN${'-'.repeat(300)}<masked>1<masked>`, '<masked>2<masked>', `${'-'.repeat(300)}<masked>`],
  ],
  ['a match that is open for too long', ['BEGIN(?s:.)*END|x+'], [`BEGIN${'-'.repeat(300)}x1x`, 'xx', 'END'], undefined],
])('%s', (_, matches, texts, masked) => {
  const rules = rulesOf({ matches })
  for (let longest = 1; longest < 4; longest++) {
    const streamed = maskInStream(rules, texts, (text) => seededRandom(longest).pieces(text, longest))
    expect(streamed.isEnded).toBe(masked === undefined)
    if (masked !== undefined) expect(streamed.texts).toEqual(masked)
  }
  if (masked !== undefined) expect(maskTogether(rules, texts)).toEqual(masked)
})

test('texts that are read together are masked in a stream as in one body, or the stream ends', () => {
  const random: SeededRandom = seededRandom(7)
  const [rules, builtins] = [
    PATTERNS.map((pattern) => rulesOf({ matches: [pattern] })[0]!),
    BUILTINS.map((name) => rulesOf({ builtins: [name] })[0]!),
  ]
  let [ended, masked] = [0, 0]
  const count = sampleSize(1_000, 100_000)
  for (let each = 0; each < count; each++) {
    const picked = Array.from({ length: 1 + random.below(3) }, () =>
      random.pick(random.below(8) === 0 ? builtins : rules),
    )
    const texts = Array.from({ length: 1 + random.below(4) }, () =>
      Array.from({ length: random.below(7) }, () => random.pick(CHARS)).join(''),
    )
    const whole = maskTogether(picked, texts)
    const streamed = maskInStream(picked, texts, (text) => random.pieces(text, 4))
    const about = { each, texts }
    if (!streamed.isEnded) expect({ ...about, masked: streamed.texts }).toEqual({ ...about, masked: whole })
    else if (picked.length === 1) {
      // Something changes because the texts are read together.
      expect({ ...about, masked: whole }).not.toEqual({
        ...about,
        masked: texts.map((text) => maskWhole(picked, text)),
      })
    }
    if (streamed.isEnded) ended++
    if (whole.join() !== texts.join()) masked++
  }
  expect(ended).toBeGreaterThan(count / 100)
  expect(masked).toBeGreaterThan(count / 4)
}, 120_000)
