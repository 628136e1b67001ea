import { expect, test } from 'vitest'
import { refusalText } from './outcome.ts'
import { rejectFailure } from './reject-failure.ts'

const AT = '10.0.0.1:80'
const FULL = 'all connections are busy, and the limit of queued requests (2) is reached'

test.each([
  ['refused', AT, 'upstream call failed', 'refused at 10.0.0.1:80'],
  ['dns', 'no such host', 'upstream call failed', 'dns at 10.0.0.1:80: no such host'],
  [
    'timeout',
    undefined,
    'upstream call timeout',
    'timeout at 10.0.0.1:80 (backend.http.requestTimeout, or timeouts.backendRequest of the route rule)',
  ],
  [
    'connect-timeout',
    undefined,
    'upstream call timeout',
    'connect-timeout at 10.0.0.1:80 (backend.tcp.connectTimeout)',
  ],
  [
    'too-many-waiting',
    FULL,
    `upstream overloaded: ${FULL} (annotation gatewright.dev/max-waiting-requests)`,
    `too-many-waiting at 10.0.0.1:80 (annotation gatewright.dev/max-waiting-requests): ${FULL}`,
  ],
] as const)('the texts of %s (%s), for the client and for operators', (code, detail, text, forOperators) => {
  const refusal = rejectFailure({ code, detail } as Parameters<typeof rejectFailure>[0], AT)
  expect(refusalText(refusal)).toBe(text)
  expect(refusal.detail).toBe(forOperators)
})
