import { expect, test } from 'vitest'
import {
  CHARACTER,
  HOST,
  isAuthority,
  isFieldName,
  isFieldValue,
  isMethod,
  isTarget,
  withoutPort,
} from './field-syntax.ts'

const DIGITS = '0123456789'
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
/** The bytes from 0x80. */
const HIGH = String.fromCharCode(...Array.from({ length: 128 }, (_, i) => 128 + i))

const isHost = (text: string) => (CHARACTER[text.charCodeAt(0)]! & HOST) !== 0

test.each<[what: string, is: (text: string) => boolean, characters: string]>([
  ['a field name', isFieldName, `!#$%&'*+-.${DIGITS}${UPPER}^_\`${LOWER}|~`],
  ['a method', isMethod, `!#$%&'*+-.${DIGITS}${UPPER}^_\`|~`],
  ['a field value', isFieldValue, `\t !"#$%&'()*+,-./${DIGITS}:;<=>?@${UPPER}[\\]^_\`${LOWER}{|}~${HIGH}`],
  ['a target', isTarget, `!"$%&'()*+,-./${DIGITS}:;<=>?@${UPPER}[\\]^_\`${LOWER}{|}~`],
  ['a host', isHost, `-.${DIGITS}${UPPER}_${LOWER}`],
])('the characters of %s', (_, is, characters) => {
  const all = Array.from({ length: 0x180 }, (_entry, code) => String.fromCharCode(code))
  expect(all.filter(is).join('')).toBe(characters)
})

test.each<[is: (text: string) => boolean, valid: string, invalid: string, empty: boolean]>([
  [isFieldName, 'X-a', 'X a', false],
  [isMethod, 'GET', 'GEt', false],
  [isFieldValue, 'a b', 'a\nb', true],
  [isTarget, '/a', '/a b', false],
])('%o: %j is valid, %j is not, an empty text: %s', (is, valid, invalid, empty) => {
  expect([is(valid), is(invalid), is('')]).toEqual([true, false, empty])
})

test.each([
  ['a', true],
  ['a-b_c.example:65535', true],
  ['127.0.0.1:0', true],
  ['[2001:db8::1]:443', true],
  ['', false],
  ['a:', false],
  [':80', false],
  ['a:123456', false],
  ['a b', false],
  ['[:', false],
  ['::1', false],
  ['user@a', false],
])('%j is an authority: %s', (text, is) => {
  expect(isAuthority(text)).toBe(is)
})

test.each([
  ['example.com:8080', 'example.com'],
  ['example.com', 'example.com'],
  ['example.com:', 'example.com'],
  ['a:80', 'a'],
  [':80', ''],
  ['127.0.0.1:80', '127.0.0.1'],
  ['[::1]:8443', '[::1]'],
  ['[2001:db8::]:80', '[2001:db8::]'],
  ['[2001:db8::1]', '[2001:db8::1]'],
  ['', ''],
])('%s without its port is %s', (authority, host) => {
  expect(withoutPort(authority)).toBe(host)
})
