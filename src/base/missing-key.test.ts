import { expect, test } from 'vitest'
import { missingKey } from './missing-key.ts'

const SECRET = { kind: 'Secret', namespace: 'default', name: 'openai' } as const
const TITLE = 'the Secret `default/openai`'

test.each([
  [[['Authorization']], { authorization: '' }, 'has no key `Authorization`; rename its key `authorization`'],
  [[['Authorization']], { token: '' }, 'has no key `Authorization`'],
  [[['tls.crt', 'ca.crt']], { 'CA.crt': '' }, 'has no key `tls.crt` or `ca.crt`; rename its key `CA.crt`'],
  [[['accessKey'], ['secretKey']], {}, 'has no key `accessKey` and no key `secretKey`'],
  [[['accessKey'], ['secretKey']], { accessKey: '' }, 'has no key `secretKey`'],
  [[['a']], undefined, 'does not exist, or has errors and is not in use'],
])('%j of %j', (wanted, data, message) => {
  expect(missingKey(SECRET, data, ...wanted)).toBe(`${TITLE} ${message}`)
})

test('an object with one key of each list is complete', () => {
  expect(missingKey(SECRET, { b: '', c: '' }, ['a', 'b'], ['c'])).toBeUndefined()
})
