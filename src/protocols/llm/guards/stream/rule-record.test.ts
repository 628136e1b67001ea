import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import type { RegexGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import { RuleRecord } from './rule-record.ts'

const rules = compileRules({ matches: ['a', 'b', 'c'] }, () => {})
const guard: RegexGuard = {
  ...{ phase: 'response', index: 0, kind: 'regex', rejects: false, refusal: reject('prompt-guard-rejected') },
  rules,
}

type Found = 'Fail' | readonly ['Mask' | 'Reject', ...number[]]

test.each<[found: Found[], verdict: string, rule: string | undefined, detail: string | undefined]>([
  [[], 'Allow', undefined, undefined],
  [
    [
      ['Mask', 2],
      ['Mask', 0, 2],
    ],
    'Mask',
    'matches[0], matches[2]',
    undefined,
  ],
  [
    [
      ['Mask', 0],
      ['Reject', 1],
      ['Mask', 2],
      ['Reject', 2],
    ],
    'Reject',
    'matches[1]',
    'why 1',
  ],
  [
    [
      ['Reject', 1],
      ['Mask', 2],
    ],
    'Reject',
    'matches[1]',
    'why 0',
  ],
  [[['Mask', 0], 'Fail', ['Mask', 2], ['Reject', 1]], 'Fail', undefined, 'failure 1'],
  [['Fail'], 'Fail', undefined, 'failure 0'],
])('after %j: %s', (found, verdict, rule, detail) => {
  const record = new RuleRecord()
  for (const [at, each] of found.entries()) {
    if (each === 'Fail') record.noteFailure(guard, `failure ${at}`)
    else {
      const [kind, ...indexes] = each
      record.note(
        guard,
        kind,
        indexes.map((index) => rules[index]!),
        kind === 'Reject' ? `why ${at}` : undefined,
      )
    }
  }
  const exchange = exchangeWith()
  record.write(guard, exchange, 0, 7)
  expect(exchange.guardChecks).toMatchObject([{ verdict, rule, detail, length: 7 }])
})
