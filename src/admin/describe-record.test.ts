import { expect, test } from 'vitest'
import { DecisionIds } from '#observe/decision-ids.ts'
import { DecisionRing } from '#observe/decision-ring.ts'
import { keptDecision } from '#observe/testing.ts'
import { describeRecord } from './describe-record.ts'

const NONE = { status: undefined, detail: undefined, rule: undefined, placeholder: undefined, requestId: undefined }

test('all times are in full microseconds', () => {
  const ring = new DecisionRing('w1', new DecisionIds(), 1)
  const times = { startMs: 1.2888650000022608, durationMs: 0.033450000002630986 }
  ring.keep(
    keptDecision({
      ...{ durationMs: 2.00000049, sentMs: 1.5720004 },
      callouts: [{ policy: 'extAuth', backend: 'default/authz', verdict: 'allowed', cached: false, ...NONE, ...times }],
      guardChecks: [
        {
          phase: 'request',
          kind: 'regex',
          index: 0,
          count: 1,
          isReused: false,
          verdict: 'Allow',
          length: 4,
          ...NONE,
          ...times,
        },
      ],
      attempts: [{ endpoint: '127.0.0.1:1', section: '', status: 200, sentMs: 1.5720004, failure: undefined }],
    }),
  )
  expect(JSON.parse(JSON.stringify(describeRecord(ring.list()[0]!)))).toMatchObject({
    durationMs: 2,
    sentMs: 1.572,
    callouts: [{ startMs: 1.289, durationMs: 0.033 }],
    guardChecks: [{ startMs: 1.289, durationMs: 0.033 }],
    attempts: [{ sentMs: 1.572 }],
  })
})
