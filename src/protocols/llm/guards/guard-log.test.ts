import { expect, test } from 'vitest'
import { exchangeWith, runContext } from '#policies/shared/testing.ts'
import type { Guard } from './guard.ts'
import { noteCheck } from './guard-log.ts'

const guard = { phase: 'response', kind: 'regex', index: 3 } as Guard

test('checks of one guard with the same outcome are added up', () => {
  const exchange = exchangeWith()
  exchange.startMonotonicMs = 1_000
  exchange.context = runContext({ monotonic: () => 1_250 })
  noteCheck(exchange, guard, 1_200, { verdict: 'Mask', length: 10, rule: 'Ssn', placeholder: '<SSN>' })
  noteCheck(exchange, guard, 1_210, { verdict: 'Mask', length: 5, rule: 'Ssn', requestId: 'r-2' })
  const different = [
    { verdict: 'Mask', rule: 'Email' },
    { verdict: 'Allow', rule: 'Ssn' },
    { verdict: 'Mask', rule: 'Ssn', isReused: true },
  ] as const
  for (const result of different) noteCheck(exchange, guard, 1_200, { length: 1, ...result })
  for (const other of [
    { ...guard, index: 4 },
    { ...guard, phase: 'request' as const },
  ]) {
    noteCheck(exchange, other, 1_200, { verdict: 'Mask', length: 1, rule: 'Ssn' })
  }
  expect(exchange.guardChecks).toHaveLength(6)
  expect(exchange.guardChecks![0]).toEqual({
    phase: 'response',
    kind: 'regex',
    index: 3,
    verdict: 'Mask',
    rule: 'Ssn',
    placeholder: '<SSN>',
    count: 2,
    length: 15,
    startMs: 200,
    durationMs: 90,
    requestId: 'r-2',
    isReused: false,
    detail: undefined,
  })
})

test('explain is told each check', () => {
  const exchange = exchangeWith()
  const details: unknown[] = []
  exchange.trace = { step: ({ detail }: { detail: string }) => details.push(detail) } as never
  noteCheck(exchange, guard, 0, { verdict: 'Mask', length: 10, rule: 'Ssn' })
  noteCheck(exchange, guard, 0, { verdict: 'Allow', length: 10 })
  noteCheck(exchange, { ...guard, kind: 'webhook' } as Guard, 0, { verdict: 'Allow', length: 10 })
  noteCheck(exchange, { ...guard, kind: 'webhook' } as Guard, 0, { verdict: 'Fail', length: 10, detail: 'timeout' })
  expect(details).toEqual([
    'promptGuard.response[3], regex, masks by Ssn',
    'promptGuard.response[3], regex, finds nothing',
    'promptGuard.response[3], webhook, fails (timeout)',
  ])
})
