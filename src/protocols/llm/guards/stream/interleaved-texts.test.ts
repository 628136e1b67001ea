import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { sequencesOf } from '../../texts/dialect-texts.ts'
import type { RegexGuard } from '../guard.ts'
import {
  BUILTIN_TEXTS,
  CHARS,
  FEW_CHARS,
  maskTogether,
  OPEN_PATTERNS,
  PATTERNS,
  ruleHolding,
  sharedRules,
} from '../rules/testing.ts'
import type { TextRule } from '../rules/text-rule.ts'
import { RegexStage, type RuleObserver } from '../stages/regex-stage.ts'
import { SequencedText, TextSequences } from './text-sequences.ts'

const OWNER = { role: 'assistant', lasts: true } as const

interface Given {
  readonly rules: readonly TextRule[]
  /** Where the texts are in the answer, in order. */
  readonly paths: readonly string[]
  /** What comes in a stream, in order: `0:abc` is a piece of the text 0, and `0/` its end. It may go on then. */
  readonly events: readonly string[]
  readonly headLength?: number
}

/** The texts as a client gets them in a whole answer. */
function maskWhole({ rules, paths, events }: Given): readonly string[] {
  const sequences = new Map<string, number[]>()
  for (const [at, path] of paths.entries()) {
    for (const name of sequencesOf('Responses', path, OWNER)) {
      sequences.set(name, [...(sequences.get(name) ?? []), at])
    }
  }
  return maskTogether(rules, textsIn(events, paths.length), [...sequences.values()])
}

function textsIn(events: readonly string[], count: number): readonly string[] {
  const texts = Array.from({ length: count }, () => '')
  for (const event of events) texts[Number(event[0])] += event.slice(2)
  return texts
}

/** The texts as a client gets them in a stream. Undefined: a guard ends it. */
function maskInStream({ rules, paths, events, headLength }: Given): readonly string[] | undefined {
  const refusal = reject('prompt-guard-rejected')
  const guard: RegexGuard = { phase: 'response', index: 0, kind: 'regex', rejects: false, refusal, rules }
  const sequences = new TextSequences('Responses', () => true)
  let isEnded = false
  const stream: RuleObserver = {
    refuse() {
      isEnded = true
    },
    noted() {},
  }
  const texts = paths.map(() => '')
  const stages = new Map<number, RegexStage<number>>()
  const out = {
    text(at: number, text: string) {
      texts[at] += text
    },
    finish() {},
  }
  const neighbours = paths.map((path) => new SequencedText(path, OWNER))
  const open = new Set<number>()
  const stageOf = (at: number): RegexStage<number> => {
    const begun = stages.get(at)
    if (begun !== undefined && open.has(at)) return begun
    const options = { guard, isFixed: false, stream, neighbours: neighbours[at]!, headLength }
    const stage = new RegexStage<number>(out, options, begun as RegexStage<unknown> | undefined)
    neighbours[at]!.stages.set(guard, stage as RegexStage<unknown>)
    stages.set(at, stage)
    open.add(at)
    return stage
  }
  const end = (at: number) => {
    if (open.delete(at)) stages.get(at)!.finish()
  }
  for (const event of events) {
    const at = Number(event[0])
    const piece = event.slice(2)
    if (event[1] === '/') end(at)
    else {
      const stage = stageOf(at)
      if (piece !== '' && !neighbours[at]!.isEntered) sequences.enter(neighbours[at]!)
      stage.text(at, piece)
    }
    if (isEnded) return undefined
  }
  for (const at of open) end(at)
  sequences.end('')
  return isEnded ? undefined : texts
}

const y = (length: number) => 'y'.repeat(length)
const ENDED = undefined

test.each<[what: string, matches: string[], events: string[], texts: string[] | undefined]>([
  [
    'a match that grows where a text goes on',
    ['\\d+'],
    ['0:a1', '1:2', '1/', '1:1-', '1/', '1:b'],
    ['a<masked>', '<masked>-b'],
  ],
  [
    'a mask where a match from the text before was open',
    ['"[^-]{0,2}-|a'],
    ['0:"', '0/', '1:a', '1/', '1:bc'],
    ['"', '<masked>bc'],
  ],
  [
    'two masks that meet where a text goes on',
    ['"[^-]*-|a|b'],
    ['0:"a', '0/', '0:b', '0/', '0:.'],
    ['"<masked><masked>.'],
  ],
  ['a match across into the third part', ['X[a-c]+-|[a-c]+'], ['0:X', '0/', '1:a', '1/', '1:b', '1/', '1:-'], ENDED],
  ['masks in three parts', ['"[^-]*-|a+'], ['0:"a.a', '0/', '0:a.a', '0/', '0:.'], ['"<masked>.<masked>.<masked>.']],
  [
    'a mask in a text that one search has settled',
    ['\\Bb[^-]{1,3}-|a'],
    ['0:x', '0/', '1:ba', '1/', '1:cdef'],
    ['x', 'b<masked>cdef'],
  ],
  ['a match whose end was certain later', ['a+(?:b\\b)?'], ['0:a.aab', '0/', '0: c'], ['<masked>.<masked> c']],
  ['a match at what seemed to be the end', ['x[a-z]{5}', 'c$'], ['0:c', '0/', '0:xa.'], ENDED],
  ['a mask of another rule there', ['b$', 'b'], ['0:b', '0/', '0:-'], ['<masked>-']],
  ['a match instead of two', ['b.{0,3}x', 'a'], ['0:bx', '0/', '0:a', '0/', '0:x'], ENDED],
  [
    'a share of a match in a long text, of which a later rule holds back what an earlier one leaves',
    ['a$|ab', '(?:b|<masked>y).{0,300}q'],
    ['0:x', `1:b${y(200)}`, `1:${y(100)}\n`, '0:a', '1:y'],
    ENDED,
  ],
  [
    'a mask in a long text that another rule masks now, so that a third one matches behind it',
    ['a$|a[^z]{0,9}z', 'x', 'yzf+'],
    ['0:a', '1:x', `1:yz${'f'.repeat(254)}`, '0:z', '1:f'],
    ENDED,
  ],
  [
    'a mask in a text that goes on and becomes long, which the text before no longer asks for',
    ['\\Bbc'],
    ['0:a', `1:bc${y(200)}`, '1/', `1:${y(100)}`, '0: ', '1:y'],
    ENDED,
  ],
  [
    'a long text behind one that goes on',
    ['a[0-9]{1,9}b', 'y1'],
    ['0:a', `1:1${y(99)}`, `1:${y(200)}`, '0:.', '1:1'],
    ['a.', `1${y(298)}<masked>`],
  ],
])('%s', (_, matches, events, texts) => {
  const paths = textsIn(events, 2).flatMap((text, at) => (text === '' ? [] : [`output[0].content[${at}].text`]))
  const given = { rules: sharedRules({ matches }), paths, events }
  expect(maskInStream(given)).toEqual(texts)
  if (texts !== ENDED) expect(maskWhole(given)).toEqual(texts)
})

/** Each matches at the end of a text otherwise than before more of it, or otherwise behind a text; the rules may mask what the others do. */
const EDGE_PATTERNS: readonly string[] = [
  ...'a$|b a$|ab a$|ab|b.{0,3}x b.{0,3}z a+(?:b\\b)? a+b? b$ \\Ba+|1 \\Bb ^b \\bab ba$ x[a-z]{2} [xz]+'.split(' '),
  ...'[a-c]{2} a.*?b a[^z]{0,3}z|a$ <masked>b a<m d>b'.split(' '),
]
const EDGE_CHARS: readonly string[] = [...FEW_CHARS, ...'bxxzz']

/** What limits a stream; filled texts are longer than the real limits. */
interface Limits {
  readonly heldBytes: readonly number[]
  readonly headLength: number
  readonly isFilled: boolean
}

class RandomAnswers {
  readonly #random: SeededRandom
  readonly #limits: Limits
  readonly #brief: readonly TextRule[]
  readonly #real: readonly TextRule[]
  readonly #builtins = sharedRules({ builtins: BUILTIN_TEXTS.map(([name]) => name) })

  constructor(seed: number, limits: Limits) {
    this.#random = seededRandom(seed)
    this.#limits = limits
    const matches = [...EDGE_PATTERNS, ...OPEN_PATTERNS]
    this.#brief = matches.flatMap((pattern) => limits.heldBytes.map((held) => ruleHolding(pattern, held)))
    this.#real = sharedRules({ matches: [...matches, ...PATTERNS] })
  }

  next(): Given {
    const random = this.#random
    const isReal = random.below(3) === 0
    const rules = Array.from({ length: 1 + random.below(3) }, () => {
      return random.pick(!isReal ? this.#brief : random.below(8) === 0 ? this.#builtins : this.#real)
    })
    const chars = isReal && random.below(2) === 0 ? CHARS : EDGE_CHARS
    const inFirst = random.below(3)
    const paths = Array.from({ length: 1 + random.below(4) }, (_, at) => {
      return `output[${at <= inFirst ? 0 : 1}].content[${at}].${random.below(4) === 0 ? 'refusal' : 'text'}`
    })
    const queues = paths.map((_, at) => this.#eventsOf(at, chars))
    const events: string[] = []
    const isMixed = random.below(3) > 0
    while (queues.length > 0) {
      const at = isMixed ? random.below(queues.length) : 0
      events.push(queues[at]!.shift()!)
      if (queues[at]!.length === 0) queues.splice(at, 1)
    }
    return { rules, paths, events, headLength: this.#limits.headLength }
  }

  #eventsOf(at: number, chars: readonly string[]): string[] {
    const random = this.#random
    const isFilled = this.#limits.isFilled && random.below(3) === 0
    const parts = Array.from({ length: random.below(9) }, () => random.pick(chars))
    const filling = random.pick([...'yab 1']).repeat(253 + random.below(6))
    if (isFilled) parts.splice(random.below(parts.length + 1), 0, filling)
    const events = random.pieces(parts.join(''), isFilled ? 200 : 4).flatMap((piece) => {
      const more = random.below(4) === 0 ? [`${at}/`] : random.below(8) === 0 ? [`${at}:`] : []
      return [`${at}:${piece}`, ...more]
    })
    return [...events, `${at}/`]
  }
}

test.each<[what: string, limits: Limits, part: number, all: number]>([
  ['as they are', { heldBytes: [256], headLength: 256, isFilled: false }, 300, 40_000],
  ['as they are, with longer texts', { heldBytes: [256, 64], headLength: 256, isFilled: true }, 300, 40_000],
  ['lowered for patterns', { heldBytes: [1, 2, 4], headLength: 256, isFilled: false }, 300, 40_000],
  ['lowered to 1', { heldBytes: [1, 4], headLength: 1, isFilled: false }, 300, 40_000],
  ['lowered to 2', { heldBytes: [1, 2, 4], headLength: 2, isFilled: false }, 500, 80_000],
  ['lowered to 5', { heldBytes: [2, 256], headLength: 5, isFilled: false }, 300, 40_000],
])(
  'texts that come in any order are masked in a stream as in a whole answer, or the stream ends; with limits %s',
  (what, limits, part, all) => {
    const answers = new RandomAnswers(what.length, limits)
    const count = sampleSize(part, all)
    let [ended, masked] = [0, 0]
    for (let each = 0; each < count; each++) {
      const given = answers.next()
      const whole = maskWhole(given)
      const streamed = maskInStream(given)
      const about = `${each}: ${JSON.stringify({ ...given, rules: given.rules.map(({ label }) => label) })}`
      if (streamed === ENDED) ended++
      else expect(streamed, about).toEqual(whole)
      if (whole.join() !== textsIn(given.events, given.paths.length).join()) masked++
    }
    expect(ended).toBeGreaterThan(count / 20)
    expect(ended).toBeLessThan(count / 2)
    expect(masked).toBeGreaterThan(count / 4)
  },
  120_000,
)
