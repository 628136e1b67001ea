import { expect, test } from 'vitest'
import { countsForHealth, type FailureCode } from './failure.ts'

const USUAL = { version: undefined, slow: false } as const
const SLOW = { version: undefined, slow: true } as const
const HTTP1 = { version: 'http1', slow: false } as const
const HTTP2 = { version: 'http2', slow: false } as const

/** Whether it counts: for a usual request, a slow body, and a request that alone needs HTTP/1.1 or HTTP/2 of the endpoint. */
const FAILURES: Readonly<
  Record<FailureCode, readonly [usual: boolean, slow: boolean, http1: boolean, http2: boolean]>
> = {
  'name-unknown': [true, true, true, true],
  'name-lookup-failed': [true, true, true, true],
  'connection-refused': [true, true, true, true],
  unreachable: [true, true, true, true],
  'resources-exhausted': [false, false, false, false],
  'connect-timeout': [true, true, true, true],
  'wait-timeout': [false, false, false, false],
  'no-streams-allowed': [true, true, true, true],
  'too-many-waiting': [false, false, false, false],
  'too-many-connections': [false, false, false, false],
  'certificate-untrusted': [true, true, true, true],
  'certificate-name': [true, true, true, true],
  'certificate-expired': [true, true, true, true],
  'certificate-invalid': [true, true, true, true],
  'handshake-failed': [true, true, false, false],
  'tls-settings-unusable': [true, true, true, true],
  'connect-failed': [true, true, true, true],
  'address-not-allowed': [false, false, false, false],
  'tunnel-refused': [true, true, true, true],
  'tunnel-failed': [true, true, true, true],
  'mesh-certificate-missing': [false, false, false, false],
  'not-http2': [true, true, true, false],
  'request-headers-too-large': [false, false, false, false],
  'request-incomplete': [false, false, false, false],
  timeout: [true, false, false, true],
  reset: [true, true, false, true],
  'protocol-error': [true, true, false, true],
  cancelled: [false, false, false, false],
}

test.each(Object.entries(FAILURES))('%s counts against the endpoint: %j', (code, counts) => {
  const failure = { code: code as FailureCode }
  expect([USUAL, SLOW, HTTP1, HTTP2].map((part) => countsForHealth(failure, part))).toEqual(counts)
  expect(countsForHealth(failure)).toBe(counts[0])
})

test('a server that has sent nothing in the version that only this request needs may not know it', () => {
  for (const code of ['reset', 'timeout'] as const) {
    expect(countsForHealth({ code, unspoken: true }, HTTP2)).toBe(false)
    expect(countsForHealth({ code, unspoken: true }, USUAL)).toBe(true)
  }
})
