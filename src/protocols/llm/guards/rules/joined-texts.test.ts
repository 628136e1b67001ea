import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { Automaton } from '#base/pattern/automaton.ts'
import { PatternScanner } from '#base/pattern/pattern-scanner.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { GuardedText } from '../texts/guarded-text.ts'
import type { GuardedTexts } from '../texts/guarded-texts.ts'
import { maskTexts } from '../texts/mask-texts.ts'
import { compileRules } from './compile-rules.ts'
import { changesAtEnd } from './joined-scanner.ts'
import { MaskPipeline, type RuleChains } from './mask-pipeline.ts'
import { CHARS, findMatches, maskWhole, PATTERNS } from './testing.ts'
import type { TextRule } from './text-rule.ts'

const BUILTINS = ['Ssn', 'Email', 'CreditCard', 'PhoneNumber', 'CaSin'] as const

/** Each has a long match that may be open while there are others in the same text. */
const OPEN_PATTERNS = [
  '"[^-\n]*-|a+',
  '"[^ @]*@|a$|b',
  '1[^12]*2|\\bc|b+\\B',
  '"[^-]*-|a|b+',
  'a[^-]*-|a+b?',
  '"[^-]*-|b$',
  '"[^-]*-|\\Ba+|1',
  'a+|b',
]
/** The characters of these patterns alone. */
const FEW_CHARS = [...'aaabb1"-\n ']

function rulesOf(spec: Parameters<typeof compileRules>[0]): readonly TextRule[] {
  return compileRules(spec, (_, message) => {
    throw new Error(message)
  })
}

/** A rule that holds back only so many bytes. */
function ruleWith(pattern: string, limit: number): TextRule {
  const automaton = new Automaton(RE2JS.compile(pattern))
  return {
    ...{ label: `${pattern} ${limit}`, placeholder: '<masked>', isNumeric: false, quiet: automaton.quiet },
    search: (text) => new PatternScanner(automaton, { limit: Number.POSITIVE_INFINITY }).search(text),
    scan: () => new PatternScanner(automaton, { limit }),
  }
}

/** Parts of a text: after each but the last, the text seems to be over. */
type Parts = readonly string[]

interface Given {
  /** The first texts of each sequence. */
  readonly first: readonly (readonly Parts[])[]
  /** Texts that follow in all sequences. */
  readonly last: readonly Parts[]
}

const textsOf = ({ first, last }: Given): readonly Parts[] => [...first.flat(), ...last]

/** Texts that are read one after the other in each sequence, masked as parts of one body. */
function maskTogether(rules: readonly TextRule[], given: Given): readonly string[] {
  const guarded = new Map(textsOf(given).map((parts) => [parts, new GuardedText(parts.join(''), true, true)]))
  const texts = [...guarded.values()]
  const groups = given.first.map((first) => [...first, ...given.last].map((parts) => guarded.get(parts)!))
  const body = { runs: [{ role: 'assistant', isOne: false, texts }], groups }
  runAtOnce(maskTexts(rules, body as unknown as GuardedTexts))
  return texts.map(({ text }) => text)
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
  const mask = (parts: Parts, sequences: readonly number[]): boolean => {
    const joined = [...new Set(sequences.map((sequence) => chains[sequence]))].filter((each) => each !== undefined)
    const numbers = sequences.map((sequence) => joined.indexOf(chains[sequence]!))
    let pipeline = new MaskPipeline(rules, { joined })
    let masked = ''
    const take = () => {
      for (const { text } of pipeline.take()) masked += text
    }
    for (const [at, part] of parts.entries()) {
      if (at > 0) pipeline = goOn(rules, pipeline, joined.length)
      for (const piece of arrival.split(part)) {
        pipeline.push(0, piece)
        take()
        if (arrival.isCopied()) pipeline = copyOf(pipeline)
      }
      pipeline.finish(true)
      take()
      if (pipeline.overran) return false
    }
    texts.push(masked)
    for (const [at, sequence] of sequences.entries()) chains[sequence] = pipeline.chains(numbers[at]!)
    return true
  }
  const isMasked =
    first.every((own, sequence) => own.every((parts) => mask(parts, [sequence]))) &&
    last.every((parts) => mask(parts, [...first.keys()]))
  return { texts, isEnded: !isMasked || chains.some((each) => each?.some(changesAtEnd)) }
}

function goOn(rules: readonly TextRule[], begun: MaskPipeline, count: number): MaskPipeline {
  const joined = Array.from({ length: begun.isJoined ? count : 0 }, (_, at) => begun.chains(at))
  return new MaskPipeline(rules, { own: begun.chains(-1), joined })
}

/** What happens to the first one changes nothing in the other one. */
function copyOf(pipeline: MaskPipeline): MaskPipeline {
  const copy = pipeline.fork()
  pipeline.push(0, 'ab1c')
  pipeline.finish(true)
  pipeline.chains(-1)
  return copy
}

test.each<[what: string, matches: string[], texts: (string | Parts)[], masked: string[] | undefined]>([
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
  ['a match that grows in a text that goes on', ['\\d+'], ['a1', ['2', '1-', 'b']], ['a<masked>', '<masked>-b']],
  ['a mask where a match from the text before was open', ['"[^-]{0,2}-|a'], ['"', ['a', 'bc']], ['"', '<masked>bc']],
  ['two masks that meet where a text goes on', ['"[^-]*-|a|b'], [['"a', 'b', '.']], ['"<masked><masked>.']],
  ['a match across into the third part', ['X[a-c]+-|[a-c]+'], ['X', ['a', 'b', '-']], undefined],
  ['masks in three parts', ['"[^-]*-|a+'], [['"a.a', 'a.a', '.']], ['"<masked>.<masked>.<masked>.']],
  ['a mask in a text that one search has settled', ['\\Bb[^-]{1,3}-|a'], ['x', ['ba', 'cdef']], ['x', 'b<masked>cdef']],
  ['a match whose end was certain later', ['a+(?:b\\b)?'], [['a.aab', ' c']], ['<masked>.<masked> c']],
  ['the end of all texts, of which the last is masked alone', ['\\bb$|bc'], ['a', 'b'], ['a', '<masked>']],
  ['a match at what seemed to be the end', ['x[a-z]{5}', 'c$'], [['c', 'xa.']], undefined],
  ['a match that is open for too long', ['BEGIN(?s:.)*END|x+'], [`BEGIN${'-'.repeat(300)}x1x`, 'xx', 'END'], undefined],
])('%s', (_, matches, texts, masked) => {
  const rules = rulesOf({ matches })
  const given = { first: [[]], last: texts.map((text) => (typeof text === 'string' ? [text] : text)) }
  for (let longest = 1; longest < 4; longest++) {
    for (const isCopied of [false, true]) {
      const split = (text: string) => seededRandom(longest).pieces(text, longest)
      const streamed = maskInStream(rules, given, { split, isCopied: () => isCopied })
      expect(streamed.isEnded).toBe(masked === undefined)
      if (masked !== undefined) expect(streamed.texts).toEqual(masked)
    }
  }
  if (masked !== undefined) expect(maskTogether(rules, given)).toEqual(masked)
})

test('texts that are read together are masked in a stream as in one body, or the stream ends', () => {
  const random: SeededRandom = seededRandom(7)
  const rules = rulesOf({ matches: [...PATTERNS, ...OPEN_PATTERNS] })
  const builtins = rulesOf({ builtins: [...BUILTINS] })
  const brief = OPEN_PATTERNS.flatMap((pattern) => [1, 2, 4].map((limit) => ruleWith(pattern, limit)))
  const text = (chars: readonly string[]) =>
    Array.from({ length: random.below(chars === CHARS ? 7 : 12) }, () => random.pick(chars)).join('')
  const parts = (chars: readonly string[]) => {
    const first = text(chars)
    // Only a text that is not empty can go on.
    const isOver = first === '' || random.below(4) > 0
    return isOver ? [first] : [first, ...Array.from({ length: 1 + random.below(2) }, () => text(chars))]
  }
  const arrival = { split: (part: string) => random.pieces(part, 4), isCopied: () => random.below(4) === 0 }
  let [ended, masked] = [0, 0]
  const count = sampleSize(1_000, 100_000)
  for (let each = 0; each < count; each++) {
    const isBrief = random.below(2) === 0
    const picked = Array.from({ length: 1 + random.below(isBrief ? 2 : 3) }, () =>
      random.pick(isBrief ? brief : random.below(8) === 0 ? builtins : rules),
    )
    const some = (most: number) => Array.from({ length: most }, () => parts(isBrief ? FEW_CHARS : CHARS))
    const given = {
      first: Array.from({ length: 1 + random.below(3) }, () => some(random.below(3))),
      last: some(1 + random.below(2)),
    }
    const whole = maskTogether(picked, given)
    const streamed = maskInStream(picked, given, arrival)
    const texts = textsOf(given)
    const about = `${each}: ${JSON.stringify({ rules: picked.map(({ label }) => label), given })}`
    if (!streamed.isEnded) {
      const [found, expected] = isBrief ? [withoutTwice(streamed.texts), withoutTwice(whole)] : [streamed.texts, whole]
      expect(found, about).toEqual(expected)
    } else if (!isBrief && picked.length === 1) {
      // Something changes because the texts are read together, or because one goes on.
      const isNeedless = whole.every((masked, at) => agreesAlone(picked[0]!, masked, texts[at]!))
      expect(isNeedless, about).toBe(false)
    }
    if (streamed.isEnded) ended++
    if (whole.join() !== texts.map((each) => each.join('')).join()) masked++
  }
  expect(ended).toBeGreaterThan(count / 100)
  expect(masked).toBeGreaterThan(count / 4)
}, 120_000)

/** If a match seemed to end with its text, and a part of it has left, its continuation can have a placeholder of its own. */
function withoutTwice(texts: readonly string[]): readonly string[] {
  return texts.map((text) => text.replaceAll(/(?:<masked>)+/g, '<masked>'))
}

/** Whether a rule masks a text as it does alone, and changes nothing that has left when the text seemed to be over. */
function agreesAlone(rule: TextRule, masked: string, parts: Parts): boolean {
  const text = parts.join('')
  const marks = marksOf(rule, text)
  const beginnings = parts.map((_, at) => parts.slice(0, at).join(''))
  return maskWhole([rule], text) === masked && beginnings.every((each) => marks.startsWith(marksOf(rule, each)))
}

/** For each unit of a text: where a match begins, what else belongs to one, and the rest. */
function marksOf(rule: TextRule, text: string): string {
  const marks = Array.from({ length: text.length }, () => '.')
  for (const { start, end } of findMatches(rule, text)) marks.fill('x', start, end)[start] = 'B'
  return marks.join('')
}
