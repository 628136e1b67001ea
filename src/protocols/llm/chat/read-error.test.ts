import { expect, test } from 'vitest'
import { readError } from './read-error.ts'

const NONE = { type: undefined, code: undefined, param: undefined }

test.each<[vendor: string, body: string, error: object]>([
  [
    'chat completions',
    '{"error":{"message":"no such model","type":"invalid_request_error","param":"model","code":"model_not_found"}}',
    { message: 'no such model', type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
  ],
  [
    'messages',
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}',
    { ...NONE, message: 'Overloaded', type: 'overloaded_error' },
  ],
  [
    'clouds that list errors',
    '[{"error":{"code":404,"message":"not found","status":"NOT_FOUND"}}]',
    { ...NONE, message: 'not found', code: 'NOT_FOUND' },
  ],
  ['converse', '{"message":"Too many tokens"}', { ...NONE, message: 'Too many tokens' }],
  [
    'signatures',
    '{"Message":"expired","__type":"ExpiredToken"}',
    { ...NONE, message: 'expired', type: 'ExpiredToken' },
  ],
  ['small servers', '{"error":"model is loading"}', { ...NONE, message: 'model is loading' }],
  [
    'a failed stream',
    ': hello\r\nevent: error\r\ndata: {"error":{"message":"slow","type":"rate_limit_error"}}\r\n\r\ndata: [DONE]\r\n\r\n',
    { ...NONE, message: 'slow', type: 'rate_limit_error' },
  ],
  ['an event that is no JSON', 'data: {"error"\n\n', { ...NONE, message: 'data: {"error"' }],
  ['load balancers', ' <html>Bad Gateway</html>\n', { ...NONE, message: '<html>Bad Gateway</html>' }],
  ['nobody', '', { ...NONE, message: 'the provider responded with status 503' }],
  ['JSON without a message', '{"ok":false}', { ...NONE, message: '{"ok":false}' }],
])('the error of %s', (_vendor, body, error) => {
  expect(readError(503, new TextEncoder().encode(body))).toEqual({ status: 503, ...error })
})

test('of other text, the first 2 KiB are the message', () => {
  expect(readError(502, new TextEncoder().encode('x'.repeat(5000))).message.length).toBe(2048)
  expect(readError(502, new TextEncoder().encode(`x${'é'.repeat(5000)}`)).message).toBe(`x${'é'.repeat(1023)}`)
})
