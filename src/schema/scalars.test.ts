import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import {
  byteSize,
  celExpression,
  duration,
  durationOrCel,
  groupName,
  host,
  integer,
  intOrString,
  kindName,
  namespaceName,
  nodeOf,
  number,
  objectName,
  port,
  quantity,
  shortString,
  type TSchema,
  text,
  validate,
} from './index.ts'

const codeOf = (schema: TSchema, value: unknown) => validate(schema, value).problems.map(({ code }) => code)

verifies('scalar/duration-form', 'a duration is up to four groups of digits and a unit, kept as written', () => {
  for (const good of ['3s', '5m', '180s', '1h30m', '0s', '100ms', '1h1m1s1ms', '99999h']) {
    expect(validate(duration(), good)).toEqual({ value: good, problems: [], tolerated: [] })
  }
  for (const bad of ['', '3', 's', '-3s', '+3s', '1.5s', '3 s', '3S', '1d', '100000s', '1s1s1s1s1s', ' 3s']) {
    expect(codeOf(duration(), bad), bad).toEqual(['invalid-duration'])
  }
  expect(codeOf(duration({ min: '1m' }), '59s')).toEqual(['out-of-range'])
  expect(codeOf(duration({ min: '1m' }), '60s')).toEqual([])
})

test('the least duration is described', () => {
  expect(nodeOf(duration({ min: '1m' })).minimumDuration).toBe('1m')
  expect(nodeOf(duration()).minimumDuration).toBeUndefined()
})

const LONGEST = 'x'.repeat(16_384)

test.each<
  [what: string, schema: TSchema, good: readonly unknown[], bad: readonly (readonly [unknown, code: string])[]]
>([
  [
    'a port',
    port(),
    [1, 65_535],
    [
      [0, 'out-of-range'],
      [65_536, 'out-of-range'],
    ],
  ],
  [
    'an expression',
    celExpression(),
    ['a', LONGEST],
    [
      ['', 'too-short'],
      [`${LONGEST}x`, 'too-long'],
    ],
  ],
  [
    'a duration or an expression',
    durationOrCel(),
    ['a', '1s'],
    [
      ['', 'too-short'],
      [`${LONGEST}x`, 'too-long'],
    ],
  ],
])('the bounds of %s', (_, schema, good, bad) => {
  for (const value of good) expect(codeOf(schema, value)).toEqual([])
  for (const [value, code] of bad) expect(codeOf(schema, value)).toEqual([code])
})

verifies('scalar/byte-size-string-or-integer', 'a size is a string or an integer', () => {
  for (const good of [1, 65_536, '1', '64Ki']) expect(codeOf(byteSize(), good)).toEqual([])
  for (const bad of [1.5, true, null, [], {}]) expect(codeOf(byteSize(), bad)).toEqual(['wrong-type'])
})

verifies('scalar/byte-size-string-length', 'a size is 1 to 32 characters long', () => {
  expect(codeOf(byteSize(), '')).toEqual(['too-short'])
  expect(codeOf(byteSize(), `1.${'0'.repeat(30)}`)).toEqual([])
  expect(codeOf(byteSize(), `1.${'0'.repeat(31)}`)).toEqual(['too-long'])
})

verifies('scalar/byte-size-binary-suffix', 'a size may carry a binary suffix', () => {
  for (const good of ['1Ki', '1Mi', '1Gi', '0.0001Ti', '0.000001Pi', '0.000000001Ei'])
    expect(codeOf(byteSize(), good)).toEqual([])
  for (const bad of ['1ki', '1KI', '1K', '1KiB', '1i'])
    expect(codeOf(byteSize(), bad), bad).toEqual(['invalid-byte-size'])
})

verifies('scalar/byte-size-decimal-suffix', 'a size may carry a decimal suffix', () => {
  for (const good of ['5000000000n', '5000000u', '5000m', '5k', '5M', '1G', '0.001T', '0.000001P', '0.000000001E']) {
    expect(codeOf(byteSize(), good), good).toEqual([])
  }
  for (const bad of ['5kb', '5MB', '5g', '5 k']) expect(codeOf(byteSize(), bad), bad).toEqual(['invalid-byte-size'])
})

verifies('scalar/byte-size-exponent', 'a size may carry an exponent', () => {
  for (const good of ['1e3', '1E3', '5e-1', '1.5e+3']) expect(codeOf(byteSize(), good), good).toEqual([])
  for (const bad of ['1e', 'e3', '1e3Ki']) expect(codeOf(byteSize(), bad), bad).toEqual(['invalid-byte-size'])
})

verifies('scalar/byte-size-unsigned-32', 'a size is 1 to 4294967295 bytes, in any form', () => {
  for (const good of [4_294_967_295, '4294967295', '4194303Ki', '1m']) expect(codeOf(byteSize(), good)).toEqual([])
  for (const bad of [0, -1, 4_294_967_296, '0', '-1', '4Gi', '1T', '0Ki']) {
    expect(codeOf(byteSize(), bad), `${bad}`).toEqual(['out-of-range'])
  }
})

test.each([
  ['shortString counts code points', shortString(), '\u{1F600}'.repeat(256), '\u{1F600}'.repeat(257), 'too-long'],
  ['text has bounds', text({ min: 2, max: 3 }), 'abc', '\u{1F600}', 'too-short'],
  ['integer', integer({ min: 1, max: 3 }), 3, 4, 'out-of-range'],
  ['integer is safe', integer(), Number.MAX_SAFE_INTEGER, 2 ** 53, 'wrong-type'],
  ['an integer is not a string', integer(), 1, '1', 'wrong-type'],
  ['intOrString', intOrString(), 'http', true, 'wrong-type'],
  ['objectName is a DNS subdomain', objectName(), 'a.b-1', 'a_b', 'invalid-name'],
  ['objectName has at most 253 characters', objectName(), 'a'.repeat(253), 'a'.repeat(254), 'too-long'],
  ['namespaceName is a DNS label', namespaceName(), 'a-1', 'a.b', 'invalid-namespace'],
  ['namespaceName has at most 63 characters', namespaceName(), 'a'.repeat(63), 'a'.repeat(64), 'too-long'],
  ['groupName may be empty', groupName(), '', 'A.b', 'invalid-name'],
  ['kindName', kindName(), 'HTTPRoute', '1a', 'invalid-name'],
  ['quantity', quantity(), '500m', '5 m', 'invalid-quantity'],
  ['host takes IPv6', host(), '[::1]', '[::1]:80', 'invalid-host'],
] as const)('%s', (_, schema, good, bad, code) => {
  expect(codeOf(schema, good)).toEqual([])
  expect(codeOf(schema, bad)).toEqual([code])
})

test('a number may have a fraction, within bounds', () => {
  expect(codeOf(number({ min: 0, max: 10 }), 2.5)).toEqual([])
  expect(codeOf(number({ min: 0 }), -0.1)).toEqual(['out-of-range'])
  expect(codeOf(number({ max: 10 }), 10.1)).toEqual(['out-of-range'])
  for (const bad of ['2.5', Number.NaN, Number.POSITIVE_INFINITY, null])
    expect(codeOf(number(), bad)).toEqual(['wrong-type'])
})
