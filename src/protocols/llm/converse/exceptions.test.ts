import { expect, test } from 'vitest'
import { readException } from './exceptions.ts'

// The reference of ConverseStream, "Errors".
test.each([
  ['accessDeniedException', 403],
  ['conflictException', 400],
  ['internalServerException', 500],
  ['modelErrorException', 424],
  ['modelNotReadyException', 429],
  ['modelStreamErrorException', 424],
  ['modelTimeoutException', 408],
  ['resourceNotFoundException', 404],
  ['serviceQuotaExceededException', 400],
  ['serviceUnavailableException', 503],
  ['ThrottlingException', 429],
  ['validationException', 400],
  ['constructor', 500],
  [undefined, 500],
])('%s has status %i', (name, status) => {
  expect(readException(name, { message: 'm' })).toMatchObject({ status, message: 'm' })
})

test('an exception without a message', () => {
  expect([readException('ValidationException', {}).message, readException(undefined, null).message]).toEqual([
    'the provider reported validationException',
    'the provider reported an error',
  ])
})
