import { expect, test } from 'vitest'
import { decodeForwarded, encodeForwarded, type ForwardedState } from './forwarded-report.ts'

const STATE: ForwardedState = {
  gateway: 'Gateway/default/main',
  address: '10.0.0.1',
  refusals: [{ key: 'HTTPRoute/default/a', message: 'bad' }],
  report: {
    inForce: 'ab',
    trusts: 'cd',
    bindings: new Map([
      ['[::]:80', { state: 'bound' }],
      ['[::]:81', { state: 'failed', reason: 'PortUnavailable', message: 'in use' }],
    ]),
    facts: [{ backend: 'Service/default/a/80', code: 'backend-not-http2', at: '10.0.0.2:80' }],
    problems: [
      {
        origin: { kind: 'HTTPRoute', namespace: 'default', name: 'a' },
        path: 'spec',
        code: 'no-effect',
        message: 'm',
        severity: 'error',
      },
    ],
    unreadable: [{ key: 'Policy/1', message: 'too new' }],
  },
}

test.each<[string, ForwardedState | undefined]>([
  ['all of a proxy', STATE],
  ['a proxy that has not reported', { ...STATE, refusals: [], report: undefined }],
  ['a proxy that has left', undefined],
])('%s arrives as it was sent', (_, state) => {
  const report = { identity: 'default/main-1', state }
  expect(decodeForwarded(encodeForwarded(report))).toEqual({ message: report })
})

test('a report that is too long is left out, and said to be refused', () => {
  const message = '\u0001'.repeat(4096)
  const problem = { ...STATE.report!.problems[0]!, message, path: message }
  const report = { ...STATE.report!, problems: Array.from({ length: 2000 }, () => problem) }
  const decoded = decodeForwarded(encodeForwarded({ identity: 'a', state: { ...STATE, report } }))
  expect(decoded).toEqual({
    message: {
      identity: 'a',
      state: {
        ...STATE,
        refusals: [{ key: '', message: expect.stringMatching(/^its report has \d{8,} bytes; the limit is 16777216$/) }],
        report: undefined,
      },
    },
  })
})

test.each(['', '{', '[]', '1', 'null', '{"gateway":"g"}', '{"identity":1}'])('%s is refused', (text) => {
  expect(decodeForwarded(Buffer.from(text))).toEqual({ fault: 'the message is not about a proxy' })
})

test('what is not understood is left out', () => {
  const text = '{"identity":"a","gateway":"g","address":1,"refusals":[],"report":[]}'
  expect(decodeForwarded(Buffer.from(text))).toEqual({
    message: { identity: 'a', state: { gateway: 'g', address: '', refusals: [], report: undefined } },
  })
})
