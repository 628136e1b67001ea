import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { contextWith, type ExchangeInputs, exchangeWith, linesOf, sourceOf } from '../testing.ts'
import {
  authorizationHeader,
  compileLocation,
  compileWritableLocation,
  fieldsAt,
  INVALID,
  readCredential,
  removeCredential,
  usesOf,
  writeCredential,
} from './credential-location.ts'
import type { ExtractionLocationSpec, InsertionLocationSpec } from './extraction-location.ts'

function read(spec: ExtractionLocationSpec, request: ExchangeInputs) {
  return readCredential(compileLocation(sourceOf(undefined), spec, contextWith()), exchangeWith(request))
}

test('a credential is read from the request as received, despite later changes (decision A-59)', () => {
  const exchange = exchangeWith({ target: '/?key=a', headers: { cookie: 'key=b', 'x-key': 'c' } })
  exchange.request.target = '/?key=x'
  exchange.request.set('cookie', 'key=x')
  exchange.request.set('x-key', 'x')
  const specs = [{ queryParameter: { name: 'key' } }, { cookie: { name: 'key' } }, { header: { name: 'x-key' } }]
  expect(specs.map((spec) => readCredential(compileWritableLocation(spec), exchange))).toEqual(['a', 'b', 'c'])
})

test.each([
  [{ header: { name: 'X-Key' } }, ['x-key']],
  [{ cookie: { name: 'key' } }, ['cookie']],
  [{ queryParameter: { name: 'key' } }, []],
])('header fields that a credential at %j uses', (spec, fields) => {
  expect(fieldsAt(compileWritableLocation(spec))).toEqual({ request: fields })
})

test('a policy declares the query parameter of its credential', () => {
  const uses = [{ queryParameter: { name: 'shop' } }, { cookie: { name: 'shop' } }].map((spec) =>
    usesOf(compileWritableLocation(spec)),
  )
  expect(uses).toEqual([
    { fields: { request: [] }, credentialParameters: ['shop'] },
    { fields: { request: ['cookie'] } },
  ])
})

test('a problem of an expression has its path, and a credential read by an expression is reported as not removable', () => {
  const context = contextWith()
  compileLocation(sourceOf(undefined), { expression: '"abc"' }, context)
  expect(context.problems).toMatchObject([
    { severity: 'warning', code: 'credential-not-removed', message: expect.stringContaining('unless headerModifiers') },
  ])
  expect(context.problems[0]?.path).toMatch(/\.location\.expression$/)
  const reporting = contextWith()
  compileLocation(sourceOf(undefined), { expression: '1 +' }, reporting)
  expect(reporting.reports).toContain('cel-syntax spec.traffic.field.location.expression')
})

type HeaderCase = [prefix: string | undefined, values: string[], found: string | typeof INVALID | undefined]

const schemes: HeaderCase[] = [
  // prefix      values of Authorization            credential
  ['Bearer', ['Bearer abc'], 'abc'],
  ['Bearer ', ['Bearer abc'], 'abc'],
  ['Bearer', ['bEARER   abc'], 'abc'],
  ['Bearer', [], undefined],
  ['Bearer', ['Bearer'], undefined],
  ['Bearer', ['Bearerabc'], undefined],
  ['Bearer', ['Basic abc'], undefined],
  ['Bearer', ['Basic abc', 'Bearer def'], 'def'],
  ['Bearer', ['Bearer abc', 'Bearer abc'], 'abc'],
  ['Bearer', ['Bearer abc', 'Bearer def'], INVALID],
  [undefined, ['Bearer abc'], 'Bearer abc'],
  ['sk-', ['sk-abc'], 'abc'],
  ['sk-', ['SK-abc'], 'abc'],
  ['sk-', ['pk-abc'], undefined],
  // The byte A0 is the end of \u00e0 in UTF-8, not a space.
  ['Bearer', ['Bearer \t k\u00c3\u00a0'], 'k\u00c3\u00a0'],
  ['\u00e0', ['\u00c3\u00a0abc'], 'abc'],
]
for (const [prefix, values, found] of schemes) {
  verifies(['location/header', 'location/header-prefix'], `prefix ${prefix}, values ${values.join(' | ')}`, () => {
    const header = prefix === undefined ? { name: 'Authorization' } : { name: 'Authorization', prefix }
    expect(read({ header }, { headers: { authorization: values } })).toBe(found)
  })
}

const others: HeaderCase[] = [
  // prefix    values of x-key     credential: a prefix is a scheme only in the two Authorization headers, or if it ends with a space
  ['Key', ['Keyabc'], 'abc'],
  ['Key', ['Key abc'], 'abc'],
  ['Key ', ['Keyabc'], undefined],
  ['Key ', ['key abc'], 'abc'],
]
for (const [prefix, values, found] of others) {
  test(`prefix "${prefix}" in x-key, values ${values.join(' | ')}`, () => {
    expect(read({ header: { name: 'X-Key', prefix: prefix! } }, { headers: { 'x-key': values } })).toBe(found)
  })
}

const queries: [target: string, found: string | typeof INVALID | undefined, rest: string][] = [
  ['/p?key=abc', 'abc', '/p'],
  ['/p?a=1&key=abc&b=%20', 'abc', '/p?a=1&b=%20'],
  ['/p?key=a%2Bb+c', 'a+b c', '/p'],
  ['/p?key=a+b', 'a b', '/p'],
  ['/p?k%65y=abc&x', 'abc', '/p?x'],
  ['/p?key=%C3%A9', '\u00c3\u00a9', '/p'],
  ['/p?key=%zz', '%zz', '/p'],
  ['/p?key', undefined, '/p'],
  ['/p?key=', undefined, '/p'],
  ['/p?Key=abc', undefined, '/p?Key=abc'],
  ['/p', undefined, '/p'],
  ['/p?', undefined, '/p?'],
  ['/p?key=a&key=a', 'a', '/p'],
  ['/p?key=a&key=b&c', INVALID, '/p?c'],
]
for (const [target, found, rest] of queries) {
  verifies('location/query-parameter', `query of ${target}`, () => {
    const exchange = exchangeWith({ target })
    const location = compileWritableLocation({ queryParameter: { name: 'key' } })
    expect(readCredential(location, exchange)).toBe(found)
    removeCredential(location, exchange.request)
    expect(exchange.request.target).toBe(rest)
  })
}

const cookies: [fields: string[], found: string | typeof INVALID | undefined, rest: string[]][] = [
  [['key=abc'], 'abc', []],
  [['a=1; key=abc; b=2'], 'abc', ['cookie: a=1; b=2']],
  [['a=1', 'key=abc'], 'abc', ['cookie: a=1']],
  [['a=1;key = abc ;b=2'], 'abc', ['cookie: a=1; b=2']],
  [['key=a=b'], 'a=b', []],
  [['Key=abc'], undefined, ['cookie: Key=abc']],
  [['key='], undefined, []],
  [['a=1'], undefined, ['cookie: a=1']],
  [['a=1;b'], undefined, ['cookie: a=1;b']],
  [['keyx; key=abc'], 'abc', ['cookie: keyx']],
  [['; key=abc; ;'], 'abc', []],
  [['key=a; key=b'], INVALID, []],
  [[], undefined, []],
]
for (const [fields, found, rest] of cookies) {
  verifies('location/cookie', `cookies ${fields.join(' | ')}`, () => {
    const exchange = exchangeWith({ headers: { cookie: fields } })
    const location = compileWritableLocation({ cookie: { name: 'key' } })
    expect(readCredential(location, exchange)).toBe(found)
    removeCredential(location, exchange.request)
    expect(linesOf(exchange.request)).toEqual(rest)
  })
}

verifies(
  'location/expression',
  'text is a credential, a missing or empty text is absent; another type, and an expression that does not compile, is invalid',
  () => {
    const cases: [string, ReturnType<typeof read>][] = [
      ['"abc"', 'abc'],
      ['""', undefined],
      ['request.headers["absent"]', undefined],
      ['null', undefined],
      ['42', INVALID],
      ['request.headers["x-key"]', 'k\u00c3\u00a9'],
      ['"5 \u20ac"', '5 \u00e2\u0082\u00ac'],
      ['1 +', INVALID],
    ]
    for (const [expression, found] of cases) {
      expect(read({ expression }, { headers: { 'x-key': 'k\u00c3\u00a9' } })).toBe(found)
    }
  },
)

test('an expression reads the request as received, and leaves it as it is now', () => {
  const location = compileLocation(
    sourceOf(undefined),
    {
      expression:
        'request.method + " " + request.host + request.pathAndQuery + " " + request.headers["authorization"]' +
        ' + " " + request.headers["cookie"] + " " + string(request.body) + " " + string("x-new" in request.headers)',
    },
    contextWith(),
  )
  const headers = { authorization: 'Bearer x', cookie: 'a=1; b=2' }
  const exchange = exchangeWith({ method: 'POST', target: '/p?key=1&a=2', headers, body: 'old' })
  const { request } = exchange
  const received = 'POST example.com/p?key=1&a=2 Bearer x a=1; b=2 old false'
  expect(readCredential(location, exchange)).toBe(received)

  request.remove('authorization')
  request.method = 'GET'
  request.target = '/other'
  request.authority = 'other.example'
  request.set('x-new', '1')
  removeCredential(compileLocation(sourceOf(undefined), { cookie: { name: 'a' } }, contextWith()), request)
  exchange.newRequestBody = new TextEncoder().encode('new')
  expect(readCredential(location, exchange)).toBe(received)

  expect(exchange.request).toBe(request)
  expect([request.method, request.target, request.authority]).toEqual(['GET', '/other', 'other.example'])
  expect(linesOf(request)).toEqual(['x-new: 1', 'cookie: b=2'])
  expect(new TextDecoder().decode(exchange.newRequestBody)).toBe('new')
})

const header = (prefix?: string): InsertionLocationSpec => ({
  header: prefix === undefined ? { name: 'X-Key' } : { name: 'X-Key', prefix },
})

const writes: [
  InsertionLocationSpec | undefined,
  credential: string,
  written: boolean,
  lines: string[],
  target: string,
][] = [
  [undefined, 'abc', true, ['authorization: Bearer abc'], '/p?key=old&a=1'],
  [undefined, 'bearer abc', true, ['authorization: bearer abc'], '/p?key=old&a=1'],
  [undefined, 'Bearerabc', true, ['authorization: Bearer Bearerabc'], '/p?key=old&a=1'],
  [header(), 'abc', true, ['x-key: abc'], '/p?key=old&a=1'],
  [header('sk-'), 'abc', true, ['x-key: sk-abc'], '/p?key=old&a=1'],
  [header('sk-'), 'SK-abc', true, ['x-key: SK-abc'], '/p?key=old&a=1'],
  [header(), 'a\r\nb', false, [], '/p?key=old&a=1'],
  [{ queryParameter: { name: 'key' } }, 'a&b=\u00c3', true, [], '/p?a=1&key=a%26b%3D%C3'],
  [{ queryParameter: { name: 'key' } }, 'a b;c', true, [], '/p?a=1&key=a%20b%3Bc'],
  [{ cookie: { name: 'key' } }, 'abc', true, ['cookie: b=2; key=abc'], '/p?key=old&a=1'],
  [{ cookie: { name: 'key' } }, 'a; b', false, [], '/p?key=old&a=1'],
  [{ cookie: { name: 'key' } }, 'a\r\nb', false, [], '/p?key=old&a=1'],
  [{ cookie: { name: 'k=1; key' } }, 'abc', false, [], '/p?key=old&a=1'],
  [header('two\r\nlines'), 'abc', false, [], '/p?key=old&a=1'],
]
for (const [spec, credential, written, lines, target] of writes) {
  test(`write ${JSON.stringify(credential)} to ${JSON.stringify(spec)}`, () => {
    const location = spec === undefined ? authorizationHeader('Bearer') : compileWritableLocation(spec)
    const { request } = exchangeWith({
      target: '/p?key=old&a=1',
      headers: { authorization: 'Bearer client', 'X-Key': 'client', cookie: 'key=client; b=2' },
    })
    const before = linesOf(request)
    expect(writeCredential(location, request, credential)).toBe(written)
    expect(linesOf(request).filter((line) => !before.includes(line))).toEqual(lines)
    expect(request.target).toBe(target)
    expect(request.getAll('authorization').length + request.getAll('x-key').length).toBe(2)
  })
}
