import { expect, test } from 'vitest'
import { hideCredentials } from './hide-credentials.ts'

const lines = (...all: string[]) => all.join('\r\n')

test('credentials of the head are hidden: by convention, and where the gateway wrote them', () => {
  const message = lines(
    'POST /v1?alt=sse&key=AIza&my-key=short&a=%3F HTTP/1.1',
    'host: a',
    'Authorization: Bearer sk-1',
    'X-Goog-Api-Key: AIza',
    'x-own: s3',
    'x-tag: plain',
    '',
    'authorization: in the body it stays',
  )
  const places = [
    { kind: 'header', name: 'x-own' },
    { kind: 'queryParameter', name: 'my-key' },
  ] as const
  expect(hideCredentials(message, places)).toBe(
    lines(
      'POST /v1?alt=sse&key=<redacted>&my-key=<redacted>&a=%3F HTTP/1.1',
      'host: a',
      'Authorization: <redacted>',
      'X-Goog-Api-Key: <redacted>',
      'x-own: <redacted>',
      'x-tag: plain',
      '',
      'authorization: in the body it stays',
    ),
  )
})

test('a response, and a message without a body', () => {
  expect(hideCredentials(lines('HTTP/1.1 200 OK', 'set-cookie: a=b'), [])).toBe(
    lines('HTTP/1.1 200 OK', 'set-cookie: <redacted>'),
  )
})
