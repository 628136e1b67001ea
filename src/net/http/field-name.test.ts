import { expect, test } from 'vitest'
import { fieldName, isConnectionLevel } from './field-name.ts'

test.each([
  ['connection', true],
  ['content-length', true],
  ['keep-alive', true],
  ['proxy-connection', true],
  ['te', true],
  ['trailer', true],
  ['transfer-encoding', true],
  ['upgrade', true],
  ['host', false],
  ['content-type', false],
])('%s belongs to the connection: %s', (name, expected) => {
  expect(isConnectionLevel(name)).toBe(expected)
  expect(fieldName(name.toUpperCase())).toEqual({ text: name, lineStart: `${name}: `, isConnectionLevel: expected })
})

test('a name that is no token is refused', () => {
  expect(() => fieldName('a b')).toThrow('the field name must be a token')
})
