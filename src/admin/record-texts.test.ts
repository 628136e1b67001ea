import { expect, test } from 'vitest'
import type { GuardCheck } from '#exchange/exchange.ts'
import { guardText } from './record-texts.ts'

const allowed: GuardCheck = {
  phase: 'request',
  kind: 'regex',
  index: 0,
  count: 1,
  verdict: 'Allow',
  rule: undefined,
  placeholder: undefined,
  detail: undefined,
  requestId: undefined,
  isReused: false,
  startMs: 0,
  durationMs: 1,
  length: 10,
}

const checks: readonly (readonly [text: string, checks: readonly Partial<GuardCheck>[]])[] = [
  ['', []],
  ['1 guard check allowed', [{}]],
  ['2 guard checks allowed', [{}, { index: 1 }]],
  ['promptGuard.request[0] regex Mask Ssn', [{ verdict: 'Mask', rule: 'Ssn' }]],
  [
    'promptGuard.response[2] webhook Reject, 1 guard check allowed',
    [{}, { phase: 'response', index: 2, kind: 'webhook', verdict: 'Reject' }],
  ],
]

for (const [text, given] of checks) {
  test(`guards: "${text}"`, () => {
    expect(guardText({ guardChecks: given.map((check) => ({ ...allowed, ...check })) })).toBe(text)
  })
}
