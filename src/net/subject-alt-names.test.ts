import { expect, test } from 'vitest'
import { readSubjectAltNames } from './subject-alt-names.ts'

test.each([
  ['', []],
  ['DNS:a.test', [['DNS', 'a.test']]],
  [
    'DNS:a.test, IP Address:10.0.0.1, URI:spiffe://a/b',
    [
      ['DNS', 'a.test'],
      ['IP Address', '10.0.0.1'],
      ['URI', 'spiffe://a/b'],
    ],
  ],
  [
    'URI:"with, comma", DNS:b',
    [
      ['URI', 'with, comma'],
      ['DNS', 'b'],
    ],
  ],
  ['URI:"a \\"quoted\\" b"', [['URI', 'a "quoted" b']]],
  ['URI:"bad \\q"', [['URI', '"bad \\q"']]],
  ['no name', []],
  ['DNS:a.test, no name', []],
  ['DNS:a.test,DNS:b', []],
])('%s', (text, expected) => {
  expect(readSubjectAltNames(text).map(({ type, value }) => [type, value])).toEqual(expected)
})
