import { expect, test } from 'vitest'
import { isFaultOfClient } from './error-statuses.ts'

test.each([400, 404, 413, 422])('%i says that the request is the cause', (status) => {
  expect(isFaultOfClient(status)).toBe(true)
})

test.each([401, 402, 403, 408, 409, 429, 500, 502, 503, 504, 529])(
  '%i is a fault between the gateway and the provider',
  (status) => {
    expect(isFaultOfClient(status)).toBe(false)
  },
)
