import { expect, test } from 'vitest'
import { compareResults, type Status } from './comparison.ts'

/** One scenario whose checks have these statuses. */
const run = (...checks: readonly (readonly [id: string, status: Status])[]) =>
  new Map([['ping', checks.map(([id, status]) => ({ id, status }))]])

test.each<[Status | undefined, Status | undefined, 'same' | 'better' | 'worse' | 'nothing']>([
  ['SUCCESS', 'SUCCESS', 'same'],
  ['SUCCESS', 'FAILURE', 'worse'],
  ['SUCCESS', 'WARNING', 'worse'],
  ['SUCCESS', 'SKIPPED', 'worse'],
  ['SUCCESS', undefined, 'worse'],
  ['WARNING', 'FAILURE', 'worse'],
  ['WARNING', undefined, 'worse'],
  ['FAILURE', 'SUCCESS', 'better'],
  ['FAILURE', 'WARNING', 'better'],
  ['FAILURE', 'FAILURE', 'same'],
  ['FAILURE', undefined, 'same'],
  [undefined, 'SUCCESS', 'better'],
  [undefined, 'FAILURE', 'worse'],
  [undefined, 'INFO', 'nothing'],
  ['INFO', 'INFO', 'nothing'],
])('%s directly and %s through the gateway is %s', (direct, through, verdict) => {
  const results = (status: Status | undefined) => (status ? run(['answers', status]) : run())
  const { same, better, worse } = compareResults(results(direct), results(through))
  expect({ same, better: better.length, worse: worse.length }).toEqual({
    same: verdict === 'same' ? 1 : 0,
    better: verdict === 'better' ? 1 : 0,
    worse: verdict === 'worse' ? 1 : 0,
  })
})

test('checks with one id count as the worst of them', () => {
  const { worse } = compareResults(
    run(['answers', 'SUCCESS'], ['answers', 'SUCCESS']),
    run(['answers', 'FAILURE'], ['answers', 'SUCCESS']),
  )
  expect(worse).toEqual([{ scenario: 'ping', id: 'answers', direct: 'SUCCESS', through: 'FAILURE', why: '' }])
})

test('a scenario that did not run through the gateway is worse', () => {
  expect(compareResults(run(['answers', 'SUCCESS']), new Map()).worse).toHaveLength(1)
})
