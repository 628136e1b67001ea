import { expect, test } from 'vitest'
import { refusalText } from './refusal-text.ts'

test.each([
  [undefined, ''],
  [['x-decision', '1'] as const, 'x-decision: 1\r\n'],
])('a refusal with the field %j', (field, line) => {
  expect(refusalText('uri-too-long', field)).toBe(
    `HTTP/1.1 414 URI Too Long\r\ncontent-type: text/plain\r\n${line}content-length: 23\r\nconnection: close\r\n\r\nrequest target too long`,
  )
})
