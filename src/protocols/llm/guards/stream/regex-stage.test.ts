import { expect, test } from 'vitest'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { RegexGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import { chainsBehind } from '../rules/mask-pipeline.ts'
import { RegexStage } from './regex-stage.ts'
import { SequencedText, TextSequences } from './text-sequences.ts'

function stageWith({ matches = ['secret-[0-9]+'], isFixed = false, before = '' } = {}) {
  const released: (readonly [tag: number, text: string])[] = []
  const refused: Refusal[] = []
  const verdicts: string[] = []
  let finished = 0
  const refusal = reject('prompt-guard-rejected')
  const rules = compileRules({ matches }, () => {})
  const stage = new RegexStage<number>(
    { text: (tag, text) => released.push([tag, text]), finish: () => void finished++ },
    {
      guard: {
        phase: 'response',
        index: 0,
        kind: 'regex',
        rejects: false,
        refusal,
        rules,
      },
      isFixed,
      own: before === '' ? undefined : chainsBehind(rules, before),
      stream: { refuse: (why) => refused.push(why), noted: (_, verdict) => verdicts.push(verdict) },
    },
  )
  const outcome = () => ({ released: released.map(([, text]) => text), refused: refused.length, finished, verdicts })
  return { stage, released, outcome }
}

test('each delta leaves with its tag', () => {
  const { stage, released } = stageWith()
  stage.text(3, 'a secret')
  stage.text(5, '-1 b')
  stage.text(7, '')
  stage.finish()
  expect(released).toEqual([
    [3, 'a <masked>'],
    [5, ' b'],
    [7, ''],
  ])
})

test('nothing leaves after a rejection, and it has no end', () => {
  const { stage, outcome } = stageWith({ isFixed: true })
  stage.text(1, 'secret-1 ')
  stage.text(2, 'more ')
  stage.text(3, 'secret-2 ')
  stage.finish()
  expect(outcome()).toEqual({ released: [], refused: 1, finished: 0, verdicts: ['Reject'] })
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

test('a match of a pattern with a longest match is held in full', () => {
  const { stage, outcome } = stageWith({ matches: ['a[^z]{0,1000}z'] })
  stage.text(1, `a${'b'.repeat(900)}`)
  expect(outcome().released).toEqual([])
  stage.text(2, 'z.')
  expect(outcome()).toMatchObject({ released: ['<masked>', '.'], refused: 0 })
})

/** Texts of one answer that are read together, in the order of their numbers. */
function answerWith(...matches: string[]) {
  const sequences = new TextSequences('Messages', () => true)
  const refused: Refusal[] = []
  const guard: RegexGuard = {
    phase: 'response',
    index: 0,
    kind: 'regex',
    rejects: false,
    refusal: reject('prompt-guard-rejected'),
    rules: compileRules({ matches }, () => {}),
  }
  const stream = { refuse: (why: Refusal) => void refused.push(why), noted() {} }
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
  return { begin, refused, end: () => sequences.end('') }
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

test('a match over an empty text is found when the text before it goes on', () => {
  const { begin, refused } = answerWith('ac')
  const [first, empty, last] = [begin(0), begin(1), begin(2)]
  first.stage.text(0, 'x')
  empty.stage.text(0, '')
  last.stage.text(0, 'c')
  last.stage.finish()
  first.stage.text(1, 'x')
  expect([last.released, refused]).toEqual([['c'], []])
  first.stage.text(2, 'a')
  first.stage.finish()
  expect(refused.length).toBe(1)
})

test('of a text that another one refuses, nothing more leaves', () => {
  for (const ends of [false, true]) {
    const { begin, refused } = answerWith('abc', 'd+e')
    const [last, first] = [begin(1), begin(0)]
    last.stage.text(0, 'bc ')
    last.stage.text(1, 'd')
    first.stage.text(0, 'a')
    if (ends) last.stage.finish()
    else last.stage.text(2, ' more')
    expect([last.released, refused.length]).toEqual([['bc '], 1])
  }
})
