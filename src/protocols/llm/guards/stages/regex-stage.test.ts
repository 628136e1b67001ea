import { expect, test } from 'vitest'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { RegexGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import { MaskPipeline } from '../rules/mask-pipeline.ts'
import { SequencedText, TextSequences } from '../stream/text-sequences.ts'
import { RegexStage, type RuleObserver, type StageBefore } from './regex-stage.ts'

function guardOf(rules: RegexGuard['rules']): RegexGuard {
  return { phase: 'response', index: 0, kind: 'regex', rejects: false, refusal: reject('prompt-guard-rejected'), rules }
}

function stageWith({ matches = ['secret-[0-9]+'], isFixed = false, before = '' } = {}) {
  const released: (readonly [tag: number, text: string])[] = []
  const refused: Refusal[] = []
  const verdicts: string[] = []
  const labels: string[] = []
  let finished = 0
  const rules = compileRules({ matches }, () => {})
  const own = new MaskPipeline(rules)
  own.pushLeft(before)
  const stage = new RegexStage<number>(
    { text: (tag, text) => released.push([tag, text]), finish: () => void finished++ },
    {
      guard: guardOf(rules),
      isFixed,
      own,
      stream: {
        refuse: (why) => refused.push(why),
        noted(_, verdict, found) {
          verdicts.push(verdict)
          labels.push(...found.map(({ label }) => label))
        },
      },
    },
  )
  const outcome = () => ({ released: released.map(([, text]) => text), refused: refused.length, finished, verdicts })
  return { stage, released, labels, outcome }
}

test('each delta leaves with its tag, and masks are noted', () => {
  const { stage, released, outcome } = stageWith()
  stage.text(3, 'a secret')
  stage.text(5, '-1 b')
  stage.text(7, '')
  stage.finish()
  expect(released).toEqual([
    [3, 'a <masked>'],
    [5, ' b'],
    [7, ''],
  ])
  expect(outcome().verdicts).toEqual(['Mask', 'Mask'])
})

test('nothing leaves after a rejection, and it has no end', () => {
  const { stage, labels, outcome } = stageWith({ isFixed: true })
  stage.text(1, 'secret-1 ')
  stage.text(2, 'more ')
  stage.text(3, 'secret-2 ')
  stage.finish()
  expect(outcome()).toEqual({ released: [], refused: 1, finished: 0, verdicts: ['Reject'] })
  expect(labels).toEqual(['matches[0]'])
})

test('a rejection at the end is the end', () => {
  const { stage, outcome } = stageWith({ isFixed: true, matches: ['secret-1$'] })
  stage.text(1, 'secret-1')
  expect(outcome().refused).toBe(0)
  stage.finish()
  stage.finish()
  expect(outcome()).toEqual({ released: [], refused: 1, finished: 0, verdicts: ['Reject'] })
})

test('the end comes once, and nothing follows it', () => {
  const { stage, outcome } = stageWith()
  stage.text(1, 'secret-1')
  stage.finish()
  stage.finish()
  stage.text(2, 'late ')
  expect(outcome()).toEqual({ released: ['<masked>'], refused: 0, finished: 1, verdicts: ['Mask'] })
})

test.each<[before: string, texts: string[], released: string[], refused: number]>([
  ['a sec', ['ret-1 '], [], 1],
  ['a sec', ['ond ', 'secret-2 '], ['ond ', '<masked> '], 0],
  ['secret-1', ['23 '], [], 1],
  // What is masked before says nothing of a later match.
  ['secret-1', ['', ' and ', 'secret-2 '], ['', ' and ', '<masked> '], 0],
])('after %j, %j', (before, texts, released, refused) => {
  const { stage, outcome } = stageWith({ before })
  for (const [tag, text] of texts.entries()) stage.text(tag, text)
  expect(outcome()).toMatchObject({ released, refused })
})

test.each([
  [['x', 'secret-[0-9]+'], 'matches[1]'],
  [['secret-[0-9]+', '<masked> x'], 'matches[0]'],
])('the first rule whose match has begun to leave is told, not another one that matches: %j', (matches, label) => {
  const { stage, labels } = stageWith({ matches, before: 'a sec' })
  stage.text(1, 'ret-1 x ')
  expect(labels).toEqual([label])
})

test('a match of a pattern with a longest match is held in full', () => {
  const { stage, outcome } = stageWith({ matches: ['a[^z]{0,1000}z'] })
  stage.text(1, `a${'b'.repeat(900)}`)
  expect(outcome().released).toEqual([])
  stage.text(2, 'z.')
  expect(outcome()).toMatchObject({ released: ['<masked>', '.'], refused: 0 })
})

test.each([
  [['x', 'tru$|true'], 'e x ', 'matches[1]'],
  [['true', 'x'], 'e ', 'matches[0]'],
])('so is the rule whose match is in what has left unchecked: %j', (matches, text, label) => {
  const { stage, labels } = stageWith({ matches })
  stage.beginWith('tru')
  stage.text(1, text)
  expect(labels).toEqual([label])
})

/** Texts of one answer that are read together, in the order of their numbers. */
function answerWith(...matches: string[]) {
  const sequences = new TextSequences('Messages', () => true)
  const refused: Refusal[] = []
  const guard = guardOf(compileRules({ matches }, () => {}))
  const labels: string[] = []
  const stream: RuleObserver = {
    refuse: (why) => void refused.push(why),
    noted: (_, verdict, rules) => void labels.push(...rules.map(({ label }) => `${verdict} ${label}`)),
  }
  const begin = (at: number) => {
    const released: string[] = []
    const neighbours = new SequencedText(`content[${at}].text`, { role: 'assistant', lasts: true })
    const out = { text: (_: unknown, text: string) => void released.push(text), finish() {} }
    const start = (begun?: RegexStage<unknown>) => {
      const stage = new RegexStage<unknown>(out, { guard, isFixed: false, stream, neighbours }, begun)
      neighbours.stages.set(guard, stage)
      return stage
    }
    const stage = start()
    sequences.enter(neighbours)
    return { stage, released, goOn: () => start(neighbours.stageOf(guard)) }
  }
  return { begin, refused, labels, end: () => sequences.end('') }
}

const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
]

test.each(ORDERS)('a match over three texts is found, in whatever order they are complete: %d, %d, %d', (...order) => {
  const { begin, refused } = answerWith('abc')
  for (const at of order) {
    const { stage } = begin(at)
    stage.text(0, 'abc'[at]!)
    stage.finish()
  }
  expect(refused.length).toBe(1)
})

test.each(ORDERS)('texts without a match across leave, in whatever order they are complete: %d, %d, %d', (...order) => {
  const { begin, refused, end } = answerWith('abc', 'b')
  const left: string[] = []
  for (const at of order) {
    const { stage, released } = begin(at)
    stage.text(0, 'xby'[at]!)
    stage.finish()
    left[at] = released.join('')
  }
  end()
  expect([left, refused]).toEqual([['x', '<masked>', 'y'], []])
})

test('a match over an empty text is found', () => {
  const { begin, refused } = answerWith('ac')
  const first = begin(0)
  first.stage.text(0, 'a')
  const [empty, last] = [begin(1), begin(2)]
  empty.stage.text(0, '')
  last.stage.text(0, 'c')
  expect(refused.length).toBe(1)
})

test.each([false, true])(
  'such a match is found when the first text goes on, after the end of the last one: %s',
  (isEnded) => {
    const { begin, refused } = answerWith('ac')
    const [first, empty, last] = [begin(0), begin(1), begin(2)]
    first.stage.text(0, 'x')
    empty.stage.text(0, '')
    last.stage.text(0, 'c')
    first.stage.text(1, 'x')
    last.stage.text(1, 'd')
    if (isEnded) last.stage.finish()
    expect([last.released, refused]).toEqual([['c', 'd'], []])
    first.stage.text(2, 'a')
    if (isEnded) first.stage.finish()
    else last.stage.text(2, 'e')
    expect([last.released, refused.length]).toEqual([['c', 'd'], 1])
  },
)

test('a long text leaves although a match that began before it is open', () => {
  const { begin, refused, end } = answerWith('BEGIN(?s:.)*END')
  const [first, long, last] = [begin(0), begin(1), begin(2)]
  first.stage.text(0, 'BEGIN')
  long.stage.text(0, 'y'.repeat(600))
  long.stage.text(1, 'y')
  last.stage.text(0, 'z')
  last.stage.text(1, 'y')
  first.stage.finish()
  expect(refused).toEqual([])
  last.stage.text(2, 'END')
  last.stage.finish()
  end()
  expect(refused.length).toBe(1)
})

test.each([false, true])(
  'of a text whose mask changes after it has left, nothing more leaves, at its end: %s',
  (isEnd) => {
    const { begin, refused } = answerWith('\\Bbc', 'd+e')
    const [last, first] = [begin(1), begin(0)]
    last.stage.text(0, 'bc ')
    last.stage.text(1, 'd')
    first.stage.text(0, 'a')
    if (isEnd) last.stage.finish()
    else last.stage.text(2, ' more')
    expect([last.released, refused.length]).toEqual([['bc '], 1])
  },
)

test('a text is refused by the rule that masks more than when it left', () => {
  const { begin, labels } = answerWith('x', '\\Bbc')
  const [first, last] = [begin(0), begin(1)]
  last.stage.text(0, 'bc x ')
  first.stage.text(0, 'a')
  last.stage.text(1, 'more')
  expect(labels).toEqual(['Mask matches[0]', 'Reject matches[1]'])
})

test('a text of which as much would be masked, but as one match instead of two, is refused', () => {
  const { begin, refused, labels } = answerWith('a$|ab|c$|cbd|defg')
  const [first, last] = [begin(0), begin(1)]
  first.stage.text(0, 'a')
  last.stage.text(0, 'bdefg ')
  first.stage.text(1, 'c')
  last.stage.text(1, 'more')
  expect([last.released, refused.length, labels]).toEqual([['<masked><masked> '], 1, ['Mask matches[0]']])
})

test('a piece is checked with all of the texts before it that has come', () => {
  const { begin, refused } = answerWith('abc')
  const [first, second, last] = [begin(0), begin(1), begin(2)]
  first.stage.text(0, 'x')
  second.stage.text(0, 'b')
  last.stage.text(0, 'c')
  expect(refused).toEqual([])
  first.stage.text(1, 'a')
  last.stage.text(1, 'z')
  expect([last.released, refused.length]).toEqual([['c'], 1])
})

test.each<[before: string, refused: number]>([
  ['a', 1],
  ['-', 0],
])('a long text whose beginning has left is checked again behind %j', (before, count) => {
  const { begin, refused } = answerWith('\\Bbc')
  const [first, last] = [begin(0), begin(1)]
  last.stage.text(0, 'bc ')
  last.stage.text(1, 'y'.repeat(600))
  first.stage.text(0, before)
  last.stage.text(2, ' more')
  expect(refused.length).toBe(count)
})

test.each<[before: string, refused: number]>([
  ['a', 1],
  ['-', 0],
])('of a long text, a piece whose end is open is checked again behind %j', (before, count) => {
  const { begin, refused } = answerWith('a$|ab')
  const [first, last] = [begin(0), begin(1)]
  last.stage.text(0, `b${'y'.repeat(254)}a`)
  last.stage.text(1, 'y'.repeat(600))
  first.stage.text(0, before)
  first.stage.finish()
  expect(refused.length).toBe(count)
})

test.each<[what: string, texts: string[], refused: number]>([
  ['256 characters', ['y'.repeat(200), 'y'.repeat(56)], 0],
  ['257 characters', ['y'.repeat(200), 'y'.repeat(57)], 1],
  ['256 pieces', ['y', ...Array(255).fill('')], 0],
  ['257 pieces', ['y', ...Array(256).fill('')], 1],
  ['a piece behind 256 empty ones', [...Array(256).fill(''), 'y'], 0],
])('of a text that may be the rest of a match, %s are checked again', (_, texts, count) => {
  const { begin, refused } = answerWith('a[^z]*z')
  const [first, last] = [begin(0), begin(1)]
  for (const [tag, text] of texts.entries()) last.stage.text(tag, text)
  first.stage.text(0, 'a')
  last.stage.text(999, 'x')
  expect(refused.length).toBe(count)
})

test.each([false, true])('the end of all texts decides about a match, before that of the last text: %s', (isEarly) => {
  const { begin, refused, end } = answerWith('ba$')
  const [first, last] = [begin(0), begin(1)]
  first.stage.text(0, 'b')
  last.stage.text(0, 'a')
  first.stage.finish()
  const steps = [() => last.stage.finish(), end]
  if (isEarly) steps.reverse()
  steps[0]!()
  expect(refused).toEqual([])
  steps[1]!()
  expect(refused.length).toBe(1)
})

test('texts without characters pass, and end', () => {
  const { begin, refused, end } = answerWith('a')
  const texts = [begin(0), begin(1)]
  for (const { stage } of texts) {
    stage.text(0, '')
    stage.finish()
  }
  end()
  expect([texts.map(({ released }) => released), refused]).toEqual([[[''], ['']], []])
})

test('the end of all texts decides about a match before a text of which nothing is left', () => {
  const { begin, refused, end } = answerWith('ba$')
  const texts = ['b', 'a', '', '']
  for (const [at, text] of texts.entries()) {
    const { stage } = begin(at)
    stage.text(0, text)
    stage.finish()
  }
  expect(refused).toEqual([])
  end()
  expect(refused.length).toBe(1)
})

test('a text that goes on after its end is checked behind the text before it, short or long', () => {
  for (const [length, ended] of [
    [1, 0],
    [600, 0],
    [600, 1],
  ] as const) {
    const { begin, refused, end } = answerWith('BEGIN(?s:.)*END', 'a[0-9]')
    const [first, last] = [begin(0), begin(1)]
    if (ended > 0) first.stage.text(0, 'BEGIN')
    else first.stage.text(0, 'a')
    last.stage.text(0, 'y'.repeat(length))
    last.stage.finish()
    const more = last.goOn()
    more.text(1, 'a1')
    more.text(2, 'END.')
    more.finish()
    end()
    expect([last.released.slice(1).join(''), refused.length]).toEqual([ended > 0 ? '' : '<masked>END.', ended])
  }
})

test('a long text that waits for a match is refused by its rule, if the text before it goes on', () => {
  const { begin, labels } = answerWith('a[^z]{0,1000}z')
  const [first, last] = [begin(0), begin(1)]
  first.stage.text(0, 'a')
  last.stage.text(0, 'y')
  last.stage.text(1, 'y'.repeat(600))
  first.stage.text(1, 'z')
  last.stage.text(2, 'y')
  expect([last.released, labels.at(-1)]).toEqual([[], 'Reject matches[0]'])
})

test('a long text whose beginning waits is refused if the text before it changes', () => {
  const { begin, labels } = answerWith('a$|ab', 'b.{0,300}c')
  const [first, last] = [begin(0), begin(1)]
  last.stage.text(0, 'by')
  last.stage.text(1, 'y'.repeat(257))
  first.stage.text(0, 'a')
  first.stage.finish()
  last.stage.text(2, 'y'.repeat(100))
  expect([last.released, labels.at(-1)]).toEqual([[], 'Reject matches[0]'])
})

test('a text refuses the stream once, however often the texts before it change', () => {
  const { begin, refused } = answerWith('\\Bbc')
  const [first, second, last] = [begin(0), begin(1), begin(2)]
  second.stage.text(0, 'bc ')
  first.stage.text(0, 'a')
  last.stage.text(0, 'x')
  expect(refused.length).toBe(1)
  first.stage.text(1, 'a')
  last.stage.text(1, 'x')
  expect(refused.length).toBe(1)
})

test.each([1, 600])('a text of %d that goes on is checked behind what has come before it meanwhile', (length) => {
  const { begin, refused, end } = answerWith('ac')
  const [first, last] = [begin(0), begin(1)]
  first.stage.text(0, 'x')
  last.stage.text(0, 'c'.padEnd(length, 'y'))
  last.stage.finish()
  first.stage.text(1, 'a')
  expect(refused).toEqual([])
  const more = last.goOn()
  more.text(1, 'z')
  more.finish()
  first.stage.finish()
  end()
  expect(refused.length).toBe(1)
})

test('a text without characters passes on that the text before it has changed', () => {
  const { begin, refused } = answerWith('ac')
  const [first, last] = [begin(0), begin(2)]
  first.stage.text(0, 'x')
  last.stage.text(0, 'c')
  begin(1)
  first.stage.text(1, 'a')
  last.stage.text(1, 'd')
  expect(refused.length).toBe(1)
})

test.each<[before: string, released: string[], refused: number]>([
  ['a', ['c', 'd'], 1],
  ['y', ['c', 'd', 'e'], 0],
])('what has left of a text that goes on is checked again behind %j, and leaves once', (before, released, count) => {
  const { begin, refused } = answerWith('ac')
  const [first, last] = [begin(0), begin(1)]
  first.stage.text(0, 'x')
  last.stage.text(0, 'c')
  last.stage.finish()
  const more = last.goOn()
  more.text(1, 'd')
  first.stage.text(1, before)
  more.text(2, 'e')
  expect([last.released, refused.length]).toEqual([released, count])
})

test('an open match stays open when its text is checked again', () => {
  const { begin, refused } = answerWith('abc')
  const [first, last] = [begin(0), begin(1)]
  first.stage.text(0, 'x')
  last.stage.text(0, 'ab')
  first.stage.text(1, 'y')
  last.stage.text(1, 'c.')
  expect([last.released, refused]).toEqual([['<masked>', '.'], []])
})

test('characters before the first end of a text count as those behind it, when it is checked again', () => {
  for (const [length, count] of [
    [56, 0],
    [57, 1],
  ] as const) {
    const { begin, refused } = answerWith('a[^z]*z')
    const [first, last] = [begin(0), begin(1)]
    last.stage.text(0, 'y'.repeat(200))
    last.stage.finish()
    const more = last.goOn()
    more.text(1, 'y'.repeat(length))
    first.stage.text(0, 'a')
    more.text(2, 'x')
    expect(refused.length).toBe(count)
  }
})

test.each([1, 600])('a match over the first end of a text of %d is found', (length) => {
  const { begin, labels } = answerWith('a[0-9]')
  begin(0).stage.text(0, 'x')
  const last = begin(1)
  last.stage.text(0, 'a'.padStart(length, 'y'))
  last.stage.finish()
  last.goOn().text(1, '1')
  expect(labels).toEqual(['Reject matches[0]'])
})

test.each([1, 600])('a text of %d is refused by the rule that masked its first end, if it goes on', (length) => {
  const { begin, labels } = answerWith('b', 'a$')
  begin(0).stage.text(0, 'x')
  const last = begin(1)
  last.stage.text(0, `b${'a'.padStart(length, 'y')}`)
  last.stage.finish()
  expect(labels).not.toContain('Reject matches[1]')
  last.goOn().text(1, 'c')
  const released = `<masked>${'<masked>'.padStart(length + 7, 'y')}`
  expect([last.released.join(''), labels.at(-1)]).toEqual([released, 'Reject matches[1]'])
})

test('a match across is found behind a text that was checked again after its end', () => {
  const { begin, refused } = answerWith('ab')
  const [first, second] = [begin(0), begin(1)]
  first.stage.text(0, 'x')
  second.stage.text(0, 'a')
  second.stage.finish()
  first.stage.text(1, 'y')
  first.stage.finish()
  begin(2).stage.text(0, 'b')
  expect(refused.length).toBe(1)
})

test('a text is checked behind what the end of the text before it would be masked to', () => {
  const { begin, refused, end } = answerWith('a$|ab')
  const [first, last] = [begin(0), begin(1)]
  first.stage.text(0, 'xa')
  last.stage.text(0, 'b.')
  first.stage.finish()
  last.stage.finish()
  end()
  expect([first.released, last.released, refused]).toEqual([['x<masked>'], ['<masked>.'], []])
})

/** A text of several sequences, with the text before it in each of them, and one behind it. */
function sequencesWith(pattern: string, texts: Readonly<Record<string, string>>) {
  const guard = guardOf(compileRules({ matches: [pattern] }, () => {}))
  const known = new Map<string, StageBefore['stage']>()
  const before = Object.entries(texts).map(([sequence, text]) => {
    const chains = known.get(text)?.chains(sequence) ?? pushed(guard, text).chains(-1)
    const stage = { chains: () => chains, endSequence() {} }
    known.set(text, stage)
    return { sequence, stage }
  })
  let refusals = 0
  const stream = { refuse: () => void refusals++, noted() {} }
  const stageBehind = (stages: readonly StageBefore[], begun?: RegexStage<unknown>) => {
    const neighbours = { before: () => stages, isFollowed: false, after: () => [] }
    return new RegexStage<unknown>({ text() {}, finish() {} }, { guard, isFixed: false, stream, neighbours }, begun)
  }
  return {
    begin: (begun?: RegexStage<unknown>) => stageBehind(before, begun),
    /** @returns how often the stream is refused because of this text */
    follow(stage: RegexStage<unknown>, sequence: string, text: string) {
      const earlier = refusals
      const next = stageBehind([{ sequence, stage }])
      next.text(0, text)
      next.finish()
      return refusals - earlier
    },
  }
}

function pushed({ rules }: RegexGuard, text: string): MaskPipeline {
  const pipeline = new MaskPipeline(rules)
  pipeline.push(0, text)
  pipeline.finish(true)
  return pipeline
}

test.each([
  ['ac{1,700}d', ['one', 'two']],
  ['bc{1,700}d', ['three']],
  ['xc{1,700}d', []],
])('the text behind one of several sequences is checked behind those of its own: %s', (pattern, matching) => {
  for (const length of [1, 600]) {
    for (const goesOn of [false, true]) {
      const { begin, follow } = sequencesWith(pattern, { one: 'a', two: 'a', three: 'b' })
      let stage = begin()
      stage.text(0, 'c'.repeat(length))
      if (goesOn) {
        stage.finish()
        stage = begin(stage)
        stage.text(1, 'c')
      }
      stage.finish()
      // Of the last one, the text is the first.
      const found = ['one', 'two', 'three', 'four'].filter((sequence) => follow(stage, sequence, 'd') > 0)
      expect([length, goesOn, found]).toEqual([length, goesOn, matching])
    }
  }
})

test('a match across is masked behind what was masked before it, although an earlier text goes on', () => {
  const { begin, refused, end } = answerWith('a$|ab')
  const [first, second, last] = [begin(0), begin(1), begin(2)]
  first.stage.text(0, 'x')
  second.stage.text(0, 'xa')
  second.stage.finish()
  first.stage.text(1, 'y')
  first.stage.finish()
  last.stage.text(0, 'b.')
  last.stage.finish()
  end()
  expect([second.released, last.released, refused]).toEqual([['x<masked>'], ['<masked>.'], []])
})
