import { expect, test } from 'vitest'
import type { GuardCheck } from '#exchange/exchange.ts'
import type { Trace } from '#exchange/trace.ts'
import type { TextPlace } from '../texts/body-texts.ts'
import type { GuardService } from './services/service.ts'
import { question } from './services/testing.ts'
import { traceCheck, traceQuestion, traceTexts } from './trace-guards.ts'

/** What `explain` gets: steps by their verdict and detail, and notes. */
function traced(run: (trace: Trace) => void): unknown[] {
  const lines: unknown[] = []
  run({
    isCalling: true,
    step: ({ stage, name, verdict, detail }: { stage: string; name: string; verdict: string; detail: string }) =>
      lines.push([stage, name, verdict, detail]),
    note: (text: string) => lines.push(text),
  } as never)
  return lines
}
const step = (verdict: string, detail: string) => ['backend', 'promptGuard', verdict, detail]

const place = (path: string, form: TextPlace['form'] = 'string', canChange = true): TextPlace => {
  return { start: 0, end: 2, path, form, canChange }
}

test('explain shows the strings that guards see, and those that they do not', () => {
  const places = [
    place('a'),
    place('b', 'arguments'),
    place('c', 'base64'),
    place('d', 'string', false),
    place('e', 'arguments', false),
  ]
  const run = { role: 'user', joins: true, lasts: true, isOne: false } as const
  expect(
    traced((trace) => traceTexts(trace, { runs: [{ ...run, places }] }, [{ path: 'f', reason: 'an id' }])),
  ).toEqual([
    'user      a',
    'user      b (JSON in a string, or text)',
    'user      c (a text file)',
    'user      d (a match rejects: it cannot be masked)',
    'user      e (JSON in a string, or text) (a match rejects: it cannot be masked)',
    'unchecked f: an id',
    step('proceed', 'guards see 5 strings of the request'),
  ])
  expect(traced((trace) => traceTexts(trace, { runs: [{ ...run, places: [place('a')] }] }, []))).toEqual([
    'user      a',
    step('proceed', 'guards see 1 string of the request'),
  ])
})

test('explain shows about how many texts a service is asked', () => {
  const service = { kind: 'webhook', destination: 'ProxyBackend/default/judge' } as GuardService
  expect(traced((trace) => traceQuestion(trace, service, question(['four'])))).toEqual([
    step('proceed', 'webhook default/judge is asked about 1 text of the request, 4 characters'),
  ])
})

test.each<[check: Partial<GuardCheck>, verdict: string, detail: string]>([
  [{ verdict: 'Allow' }, 'proceed', 'promptGuard.request[1], regex, finds nothing'],
  [{ verdict: 'Mask', rule: 'Ssn' }, 'proceed', 'promptGuard.request[1], regex, masks by Ssn'],
  [{ verdict: 'Reject', rule: 'Ssn' }, 'refuse', 'promptGuard.request[1], regex, rejects by Ssn'],
  [{ verdict: 'Reject', kind: 'webhook' }, 'refuse', 'promptGuard.request[1], webhook, rejects'],
  [
    { verdict: 'Fail', kind: 'webhook', detail: 'timeout' },
    'refuse',
    'promptGuard.request[1], webhook, fails (timeout)',
  ],
])('explain shows a check as a step that goes on or refuses: %j', (check, verdict, detail) => {
  const all = { phase: 'request', index: 1, kind: 'regex', ...check } as GuardCheck
  expect(traced((trace) => traceCheck(trace, all))).toEqual([step(verdict, detail)])
})
