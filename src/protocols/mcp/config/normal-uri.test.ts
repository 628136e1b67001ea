import { expect, test } from 'vitest'
import { normalUri } from './normal-uri.ts'

test.each([
  ['file:///pub/../etc/passwd', 'file:///etc/passwd'],
  ['file:///pub/%2e%2E/etc/passwd', 'file:///etc/passwd'],
  ['file:///pub/..%2fetc/passwd', 'file:///etc/passwd'],
  ['file:///pub/..%5Cetc/passwd', 'file:///etc/passwd'],
  ['file:///pub\\..\\etc/passwd', 'file:///etc/passwd'],
  ['file:///../../etc/passwd', 'file:///etc/passwd'],
  ['file:///pub/./a/..', 'file:///pub/'],
  ['FILE:///etc/passwd', 'file:///etc/passwd'],
  ['file:/etc/passwd', 'file:///etc/passwd'],
  ['file://localhost/etc/passwd', 'file:///etc/passwd'],
  ['file:////etc//passwd', 'file:///etc/passwd'],
  ['file:///%2fetc/passwd', 'file:///etc/passwd'],
  [' file:///etc/pass\twd\n', 'file:///etc/passwd'],
  ['file:///%65tc/p%61sswd', 'file:///etc/passwd'],
  ['file:///a b', 'file:///a%20b'],
  ['file:///%c3%a9', 'file:///%C3%A9'],
  ['https://EXAMPLE.com:443/a', 'https://example.com/a'],
  ['https://example.com', 'https://example.com/'],
  ['notes://Work/%41/../b', 'notes://Work/b'],
  ['notes://Work/a/..%2f..%2fb', 'notes://Work/b'],
  ['memo:a/../b', 'memo:b'],
  ['memo:../../b', 'memo:b'],
  // Without a scheme, only characters are decoded.
  ['%61/../b', 'a/../b'],
])('%s is %s', (uri, normal) => {
  expect(normalUri(uri)).toBe(normal)
  expect(normalUri(normal)).toBe(normal)
})

test.each([
  'file:///etc/passwd',
  'file:///my%20file?q=%2F..%2F#a/../b',
  'notes://Work/1',
  'db://tables/a%2Fb',
  'file:///{path}',
  'db://{table}/rows{?limit}',
  'weather://today',
  'memo:a',
  'urn:isbn:0451450523',
  '',
])('%s is in normal form', (uri) => expect(normalUri(uri)).toBe(uri))
