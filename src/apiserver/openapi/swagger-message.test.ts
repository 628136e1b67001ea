import { expect, test } from 'vitest'
import { swaggerMessage } from './swagger-message.ts'

function definitionWith(schema: object): string {
  const info = { title: 'a', version: '1' }
  const message = swaggerMessage({ swagger: '2.0', info, paths: {}, definitions: { A: schema as never } })
  return Buffer.from(message).toString('hex')
}

/** Numbers and wire types of `openapi.v2.Schema` of gnostic. */
test.each([
  ['format', 'x', '120178'],
  ['description', 'x', '220178'],
  ['maximum', 2, '390000000000000040'],
  ['minimum', 2, '490000000000000040'],
  ['maxLength', 2, '5802'],
  ['minLength', 2, '6002'],
  ['pattern', 'x', '6a0178'],
  ['maxItems', 2, '7002'],
  ['minItems', 2, '7802'],
  ['maxProperties', 2, '880102'],
  ['minProperties', 2, '900102'],
  ['required', ['x'], '9a010178'],
])('the message has %s %j', (keyword, value, bytes) => {
  expect(definitionWith({ [keyword]: value })).toContain(bytes)
})
