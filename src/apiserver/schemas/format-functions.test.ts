import { expect, test } from 'vitest'
import { compile, createEnvironment } from '#cel/index.ts'
import { FORMAT_FUNCTIONS } from './format-functions.ts'

const environment = createEnvironment({ functions: FORMAT_FUNCTIONS })
const evaluate = (text: string) => compile(text, environment).program!.evaluate({})

test.each([
  ['dns1123Label', 'a-1', 'a.b'],
  ['dns1123Subdomain', 'a.b', 'A'],
  ['dns1035Label', 'a-1', '1a'],
  ['qualifiedName', 'a.b/C_d', 'a/b/c'],
  ['dns1123LabelPrefix', 'a-', '-a'],
  ['dns1123SubdomainPrefix', 'a.b.-', 'a..b'],
  ['dns1035LabelPrefix', 'a-', '1a-'],
  ['labelValue', '', '-'],
  ['uri', 'http://a.test/', 'a b'],
  ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123'],
  ['byte', 'aGk=', 'a'],
  ['date', '2026-01-31', '2026-02-30'],
  ['datetime', '2026-01-31T10:00:00Z', '10:00'],
])('%s: "%s", not "%s"', (name, valid, invalid) => {
  const has = (text: string) => evaluate(`!format.${name}().validate('${text}').hasValue()`)
  expect([has(valid), has(invalid)]).toEqual([true, false])
  expect(evaluate(`format.named('${name}').value().validate('${valid}').hasValue()`)).toBe(false)
})

test('why a text has not the format', () => {
  expect(evaluate("format.uuid().validate('1').value()[0]")).toBe('does not match the UUID format')
  expect(evaluate(`size(format.dns1123Label().validate('${'a'.repeat(64)}').value()[0]) > 0`)).toBe(true)
})

test('an unknown format', () => expect(evaluate("format.named('other').hasValue()")).toBe(false))
