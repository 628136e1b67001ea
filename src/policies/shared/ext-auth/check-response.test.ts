import { expect, test } from 'vitest'
import { encodeMessage, type MessageValue } from '#base/protobuf/message.ts'
import { CHECK_RESPONSE } from './check-messages.ts'
import { readCheckResponse } from './check-response.ts'
import { NO_EDITS, type Verdict } from './verdict.ts'

const read = (response: MessageValue<typeof CHECK_RESPONSE>) =>
  readCheckResponse(encodeMessage(CHECK_RESPONSE, response)) as Verdict

test('bytes that are no CheckResponse are a failure, so failureMode decides', () => {
  // A status without the bytes that its length announces.
  expect(readCheckResponse(Buffer.from('0a05', 'hex'))).toMatchObject({
    failure: 'response-invalid',
    detail: 'the message is not a CheckResponse',
  })
})

test('code 0 allows, which is also the default', () => {
  for (const response of [{}, { status: {} }, { status: { code: 0 } }, { deniedResponse: { body: 'no' } }]) {
    const { bytes, ...verdict } = read(response)
    expect(verdict).toEqual({ status: 'OK', refusal: undefined, edits: NO_EDITS, metadata: undefined })
    expect(bytes).toBe(encodeMessage(CHECK_RESPONSE, response).length)
  }
})

test('any other code denies, also with an okResponse', () => {
  for (const code of [1, 7, -1]) {
    expect(read({ status: { code }, okResponse: { headersToRemove: ['x-a'] } })).toMatchObject({
      refusal: { code: 'ext-auth-denied', detail: `the authorization server denied with code ${code}` },
      edits: NO_EDITS,
    })
  }
})

test.each([
  [undefined, undefined],
  [0, undefined],
  [199, undefined],
  [200, 200],
  [401, 401],
  [599, 599],
  [600, undefined],
])('a denial with the status %s has %s', (code, status) => {
  const denied = read({ status: { code: 7 }, deniedResponse: code === undefined ? {} : { status: { code } } })
  expect(denied.refusal).toMatchObject({ code: 'ext-auth-denied', status, body: '' })
})

test('of an allowed request, the edits are in lower case, and members without a value are empty', () => {
  const option = (key: string, value: string) => ({ header: { key, value } })
  const okResponse = {
    headers: [option('X-User', 'ann'), option('Host', 'evil')],
    headersToRemove: ['X-Old', 'Content-Length'],
    queryParametersToSet: [{ key: 'a', value: '1' }, { key: 'b' }, { value: '2' }],
    queryParametersToRemove: ['c'],
    responseHeadersToAdd: [option('X-Seen', 'yes'), option('Transfer-Encoding', 'chunked')],
  }
  expect(read({ okResponse }).edits).toEqual({
    headers: [{ lowerName: 'x-user', value: 'ann', mode: 'set' }],
    removedHeaders: ['x-old'],
    setParameters: [
      ['a', '1'],
      ['b', ''],
      ['', '2'],
    ],
    removedParameters: ['c'],
    responseHeaders: [['x-seen', 'yes']],
  })
})
