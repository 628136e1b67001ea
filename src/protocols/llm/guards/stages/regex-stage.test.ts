import { expect, test } from 'vitest'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { compileRules } from '../rules/compile-rules.ts'
import { RegexStage } from './regex-stage.ts'

function stageWith({ matches = ['secret-[0-9]+'], isFixed = false } = {}) {
  const released: (readonly [tag: number, text: string])[] = []
  const refused: Refusal[] = []
  const verdicts: string[] = []
  const labels: string[] = []
  let finished = 0
  const rules = compileRules({ matches }, () => {})
  const refusal = reject('prompt-guard-rejected')
  const stage = new RegexStage<number>(
    { text: (tag, text) => released.push([tag, text]), finish: () => void finished++ },
    {
      guard: { phase: 'response', index: 0, kind: 'regex', rejects: false, refusal, rules },
      isFixed,
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

test('a match of a pattern with a longest match is held in full', () => {
  const { stage, outcome } = stageWith({ matches: ['a[^z]{0,1000}z'] })
  stage.text(1, `a${'b'.repeat(900)}`)
  expect(outcome().released).toEqual([])
  stage.text(2, 'z.')
  expect(outcome()).toMatchObject({ released: ['<masked>', '.'], refused: 0 })
})

test('a match whose beginning had to leave refuses the stream, and names its rule', () => {
  const { stage, labels, outcome } = stageWith({ matches: ['x', 'BEGIN(?s:.)*END'] })
  stage.text(1, `BEGIN${'y'.repeat(600)}`)
  stage.text(2, 'END')
  stage.finish()
  expect(outcome()).toEqual({ released: [], refused: 1, finished: 0, verdicts: ['Reject'] })
  expect(labels).toEqual(['matches[1]'])
})

test('a word leaves when the next one begins', () => {
  const { stage, outcome } = stageWith({ matches: ['\\w+@\\w+'] })
  stage.text(1, 'to')
  stage.text(2, ' ann')
  expect(outcome().released).toEqual(['to'])
  stage.finish()
  expect(outcome()).toMatchObject({ released: ['to', ' ann'], finished: 1 })
})
