import { expect, test } from 'vitest'
import { readReportedError } from '../../chat/read-error.ts'
import { formatError } from './errors.ts'

const nothing = { type: undefined, code: undefined, param: undefined }

test.each<[type: string, status: number]>([
  ['overloaded_error', 529],
  ['rate_limit_error', 429],
  ['toString', 500],
])('an error of the type %s in a stream stands for the status %d', (type, status) => {
  expect(readReportedError({ type: 'error', error: { type, message: 'm' } })).toEqual({
    ...nothing,
    status,
    type,
    message: 'm',
  })
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
  [401, 'invalid_request_error', 'authentication_error'],
  [404, 'invalid_request_error', 'not_found_error'],
  [400, 'overloaded_error', 'invalid_request_error'],
  [503, 'overloaded_error', 'overloaded_error'],
  [422, 'invalid_request_error', 'invalid_request_error'],
  [500, 'toString', 'api_error'],
])('an error with the status %d and the type %s is written as %s', (status, type, written) => {
  expect(JSON.parse(formatError({ ...nothing, status, type, message: 'm' })).error.type).toBe(written)
})

test.each<[error: object, written: object]>([
  [{}, {}],
  [{ type: 'api_error' }, {}],
  [{ type: 'rate_limit_error' }, { code: 'rate_limit_error', details: { error_code: 'rate_limit_error' } }],
  [{ code: 'c' }, { code: 'c', details: { error_code: 'c' } }],
  [
    { code: 'llm-thread-unsupported' },
    { code: 'llm-thread-unsupported', details: { error_code: 'thread_unsupported_request' } },
  ],
  [{ type: 'insufficient_quota' }, { code: 'insufficient_quota', details: { error_code: 'insufficient_quota' } }],
  [
    { type: 'insufficient_quota', code: 'c' },
    { code: 'c', details: { error_code: 'c' } },
  ],
])('the code of the error %j', (error, written) => {
  expect(JSON.parse(formatError({ ...nothing, status: 500, message: 'm', ...error }))).toEqual({
    type: 'error',
    error: { type: 'api_error', message: 'm', ...written },
  })
})
