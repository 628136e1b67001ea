import { expect, test } from 'vitest'
import { formatError, readError } from './errors.ts'

const read = (status: number, body: string) => readError(status, new TextEncoder().encode(body))
const nothing = { type: undefined, code: undefined, param: undefined }

test.each<[body: string, message: string, type?: string | undefined, code?: string]>([
  ['{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}', 'Busy', 'overloaded_error'],
  [
    '{"type":"error","error":{"type":"invalid_request_error","message":"No","details":{"error_code":"tool_name_conflict"}}}',
    'No',
    'invalid_request_error',
    'tool_name_conflict',
  ],
  ['{"error":{"code":403,"message":"Denied","status":"PERMISSION_DENIED"}}', 'Denied', undefined, 'PERMISSION_DENIED'],
  [
    '[{"error":{"code":403,"message":"Denied","status":"PERMISSION_DENIED"}}]',
    'Denied',
    undefined,
    'PERMISSION_DENIED',
  ],
  ['{"error":"no such model"}', 'no such model'],
  ['{"message":"no such model"}', 'no such model'],
  ['<html>Bad Gateway</html>\n', '<html>Bad Gateway</html>'],
  ['{"reason":"?"}', '{"reason":"?"}'],
  ['[]', '[]'],
  ['', ''],
])('%s', (body, message, type, code) => {
  expect(read(503, body)).toEqual({ ...nothing, status: 503, message, type, code })
})

test('of a body that is not JSON, the first 2 KiB are the message', () => {
  expect(read(500, 'x'.repeat(5000)).message).toBe('x'.repeat(2048))
})

test.each<[status: number, type: string | undefined, written: string]>([
  [400, undefined, 'invalid_request_error'],
  [401, undefined, 'authentication_error'],
  [402, undefined, 'billing_error'],
  [403, 'insufficient_permissions', 'permission_error'],
  [404, undefined, 'not_found_error'],
  [413, undefined, 'request_too_large'],
  [422, undefined, 'invalid_request_error'],
  [429, 'insufficient_quota', 'rate_limit_error'],
  [500, undefined, 'api_error'],
  [503, undefined, 'api_error'],
  [504, undefined, 'timeout_error'],
  [529, undefined, 'overloaded_error'],
  [400, 'overloaded_error', 'overloaded_error'],
  [500, 'toString', 'api_error'],
])('an error with the status %d and the type %s is written as %s', (status, type, written) => {
  expect(JSON.parse(formatError({ ...nothing, status, type, message: 'm' }))).toEqual({
    type: 'error',
    error: { type: written, message: 'm' },
  })
})

test('the code of an error is a detail', () => {
  expect(
    JSON.parse(formatError({ ...nothing, status: 400, message: 'm', code: 'context_length_exceeded' })).error,
  ).toEqual({
    type: 'invalid_request_error',
    message: 'm',
    details: { error_code: 'context_length_exceeded' },
  })
})
