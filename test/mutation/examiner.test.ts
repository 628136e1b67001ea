import { expect, test } from 'vitest'
import { type Examined, Examiner } from './examiner.ts'
import type { Failure, Trial } from './runner.ts'

const EXAMINED: Examined = {
  file: 'a.ts',
  text: 'sound',
  nearest: ['n1', 'n2'],
  farther: ['f1', 'f2'],
  scenarios: ['s1'],
}

/** @param outcomes the first failure of these tests with this text, in turn; the last one is repeated */
function examinerOf(outcomes: Readonly<Record<string, readonly (string | undefined)[]>>) {
  const runs: string[] = []
  const broken: string[] = []
  const runsOf = new Map<string, number>()
  const firstFailure = ({ text, tests }: Trial): Failure | undefined => {
    runs.push(`${text}: ${tests.join(' ')}`)
    for (const name of tests) {
      const key = `${text} ${name}`
      const number = runsOf.get(key) ?? 0
      runsOf.set(key, number + 1)
      const failure = outcomes[key]?.at(number) ?? outcomes[key]?.at(-1)
      if (failure !== undefined) return failure === 'limit' ? { text: failure } : { text: failure, test: name }
    }
    return undefined
  }
  const run = async (trial: Trial) => ({ failure: firstFailure(trial), ms: 1 })
  const examiner = new Examiner({ run, [Symbol.dispose]() {} }, new Map(), (name) => broken.push(name))
  return { examine: () => examiner.examine(EXAMINED, 'mutant'), runs, broken }
}

test.each<[string, Parameters<typeof examinerOf>[0], found: string | undefined, runs: string[], broken: string[]]>([
  ['none fails', {}, undefined, ['mutant: n1 n2', 'mutant: f1 f2', 'mutant: s1'], []],
  ['a near one fails', { 'mutant n2': ['2'] }, '2', ['mutant: n1 n2', 'sound: n2'], []],
  [
    'a near one fails anyway',
    { 'mutant n1': ['1'], 'sound n1': ['1'], 'mutant n2': ['2'] },
    '2',
    ['mutant: n1 n2', 'sound: n1', 'mutant: n2', 'sound: n2'],
    ['n1'],
  ],
  [
    'all that fail do so anyway',
    { 'mutant f1': ['f'], 'sound f1': ['f'] },
    undefined,
    ['mutant: n1 n2', 'mutant: f1 f2', 'mutant: f1', 'sound: f1', 'mutant: f2', 'mutant: s1'],
    ['f1'],
  ],
  [
    'a distant one fails',
    { 'mutant f1': ['f'] },
    'f',
    ['mutant: n1 n2', 'mutant: f1 f2', 'mutant: f1', 'sound: f1'],
    [],
  ],
  [
    'a scenario fails',
    { 'mutant s1': ['s'] },
    's',
    ['mutant: n1 n2', 'mutant: f1 f2', 'mutant: s1', 'mutant: s1', 'sound: s1'],
    [],
  ],
  [
    'a limit ends tests whose time is not known, and again when it is',
    { 'mutant n1': ['limit'] },
    'limit',
    ['mutant: n1 n2', 'sound: n1 n2', 'mutant: n1 n2'],
    [],
  ],
])('%s', async (_, outcomes, found, runs, broken) => {
  const examiner = examinerOf(outcomes)
  expect(await examiner.examine()).toBe(found)
  expect([examiner.runs, examiner.broken]).toEqual([runs, broken])
})

test('a distant test that fails once has failed by chance', async () => {
  let left = 1
  const run = async ({ tests }: Trial) => ({
    failure: tests.includes('f1') && left-- > 0 ? { text: 'f', test: 'f1' } : undefined,
    ms: 1,
  })
  const examiner = new Examiner({ run, [Symbol.dispose]() {} }, new Map(), () => {})
  expect(await examiner.examine(EXAMINED, 'mutant')).toBe(undefined)
})

test('what passed once without a mutant is not run again without one', async () => {
  const { examine, runs } = examinerOf({ 'mutant n1': ['1'] })
  await examine()
  await examine()
  expect(runs).toEqual(['mutant: n1 n2', 'sound: n1', 'mutant: n1 n2'])
})
