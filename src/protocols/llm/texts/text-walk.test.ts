import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import type { ExemptPlace } from './body-texts.ts'
import { readTexts } from './read-texts.ts'
import { documentOf, runsOf } from './testing.ts'
import { compileTable, type TextTable } from './text-table.ts'
import * as treat from './treatments.ts'

const EMPTY: TextTable = { first: [], runs: {}, places: {}, anywhere: {} }

/** The texts of runs; a run that is not joined is in brackets. */
function read(body: unknown, table: Partial<TextTable> = {}) {
  const compiled = compileTable({ ...EMPTY, ...table })
  return runsOf(body, (document) => readTexts(document, compiled))
}

/** What no guard checks. */
function exemptOf(body: unknown, places: TextTable['places']): string[] {
  const exempt: ExemptPlace[] = []
  runAtOnce(readTexts(documentOf(body), compileTable({ ...EMPTY, places }), exempt))
  return exempt.map(({ path, reason }) => `${path}: ${reason}`)
}

/** Role, and whether the run joins. */
function kindsOf(body: unknown, table: Partial<TextTable>) {
  const { runs } = runAtOnce(readTexts(documentOf(body), compileTable({ ...EMPTY, ...table })))
  return runs.map(({ role, joins }) => [role, joins])
}

test.each<[body: unknown, runs: string[][]]>([
  ['"a"', [['(user)', ': a']]],
  [['a', ['b'], { c: 'd' }], [['(user)', '[0]: a', '[1][0]: b', '[2]{0}:name: c!', '[2]{0}: d']]],
  [7, []],
  ['null', []],
  [{}, []],
  [
    { a: 'b', c: 'd' },
    [
      ['(user)', 'a: b'],
      ['(user)', 'c: d'],
    ],
  ],
])('in the body %j, all strings are of the user', (body, runs) => {
  expect(read(body)).toEqual(runs)
  expect(kindsOf(body, {})).toEqual(runs.map(() => ['user', false]))
})

test('some members are read before all others, in their order', () => {
  const body = { z: '1', b: '2', y: '3', a: '4', x: '5' }
  expect(read(body, { first: ['a', 'b', 'c'] }).map(([, text]) => text)).toEqual([
    ...['a: 4', 'b: 2', 'z: 1', 'y: 3', 'x: 5'],
  ])
  expect(read({ z: '1', b: '2' }, { first: ['b'] }).map(([, text]) => text)).toEqual(['b: 2', 'z: 1'])
})

test.each(['system', 'user', 'assistant', 'tool'] as const)('the run of %s', (role) => {
  const table = { runs: { a: role }, places: { 'a.text': treat.TEXT } }
  expect(kindsOf({ a: { text: 'x' } }, table)).toEqual([[role, true]])
  expect(kindsOf({ a: { name: 'x' } }, table)).toEqual([[role, false]])
})

test.each<[member: object, role: string]>([
  [{}, 'user'],
  [{ role: 'user' }, 'user'],
  [{ role: 'system' }, 'system'],
  [{ role: 'developer' }, 'system'],
  [{ role: 'function' }, 'tool'],
  [{ role: 'odd' }, 'user'],
])('a message %j is of the role %s', (member, role) => {
  const table = { runs: { 'm[]': 'role' as const }, places: { 'm[].text': treat.TEXT, 'm[].role': treat.FIXED } }
  const kinds = kindsOf({ m: [{ text: 'x', ...member }] }, table)
  expect(kinds[0]).toEqual([role, true])
})

test.each<[member: object, role: string]>([
  [{}, 'user'],
  [{ role: 'assistant', type: 'x_output' }, 'assistant'],
  [{ type: 'x_output' }, 'tool'],
  [{ type: 'message' }, 'assistant'],
  [{ type: 'reasoning' }, 'assistant'],
])('an item %j is of the role %s', (member, role) => {
  const table = { runs: { 'i[]': 'item' as const }, places: { 'i[].text': treat.TEXT } }
  expect(kindsOf({ i: [{ text: 'x', ...member }] }, table)[0]).toEqual([role, true])
})

test('texts behind a run within another one are of the outer run', () => {
  const places = { '{a,a.b.c,a.d}': treat.TEXT, 'a.{d,e}': treat.TEXT }
  const table: Partial<TextTable> = { runs: { a: 'system', 'a.b': 'tool' }, places }
  expect(read({ a: { d: '1', b: { c: ['2', ['3']] }, e: '4' }, f: '5' }, table)).toEqual([
    ['system', 'a.d: 1', 'a.e: 4'],
    ['tool', 'a.b.c[0]: 2', 'a.b.c[1][0]: 3'],
    ['(user)', 'f: 5'],
  ])
})

test.each<[treatment: treat.Treatment, value: unknown, texts: string[][]]>([
  [treat.TEXT, 'a', [['user', 'p: a']]],
  [treat.TEXT, ['a', ['b']], [['user', 'p[0]: a', 'p[1][0]: b']]],
  [treat.TEXT, 7, [['user', 'p: 7! (number)']]],
  [treat.TEXT, [7], [['user', 'p[0]: 7! (number)']]],
  [treat.TEXT, { x: 'a' }, [['(user)', 'p.x: a']]],
  [treat.TEXT, true, []],
  [treat.LOGPROBS, ['a'], [['(user)', 'p: a (logprobs)']]],
  [treat.LOGPROBS, null, []],
  [treat.VISIBLE, 'a', [['(user)', 'p: a']]],
  [treat.VISIBLE, ['a', { x: 'b' }], [['(user)', 'p[0]: a', 'p[1]{0}:name: x!', 'p[1]{0}: b']]],
  [treat.VISIBLE, { x: 'a' }, [['(user)', 'p.x: a']]],
  [treat.PART, 'a', [['user', 'p: a']]],
  [treat.PART, 7, [['user', 'p: 7! (number)']]],
  [treat.PART, ['a'], [['user', 'p[0]: a']]],
  [
    treat.PART,
    { x: 'a', y: { z: 'b' } },
    [
      ['user', 'p.x: a', 'p.y{0}: b'],
      ['(user)', 'p.y{0}:name: z!'],
    ],
  ],
  [treat.FIXED, 'a', [['(user)', 'p: a!']]],
  [treat.FIXED, ['a', { x: 'b' }], [['(user)', 'p[0]: a!', 'p[1]{0}:name: x!', 'p[1]{0}: b!']]],
  [treat.FIXED, 7, []],
  [treat.JSON_VALUE, ['a', { x: 'b' }], [['(user)', 'p[0]: a', 'p[1]{0}:name: x!', 'p[1]{0}: b']]],
  [treat.ARGUMENTS, ' {"a":1}', [['(user)', 'p:  {"a":1} (arguments)']]],
  [treat.ARGUMENTS, 'a', [['(user)', 'p: a']]],
  [treat.ARGUMENTS, { x: 'a' }, [['(user)', 'p{0}:name: x!', 'p{0}: a']]],
  [treat.FILE, 'YWI=', [['user', 'p: YWI= (base64)']]],
  [treat.FILE, ['YWI='], [['(user)', 'p[0]: YWI=']]],
  [treat.FILE, 'no base64!', [['user', 'p: no base64!']]],
  [treat.FILE, 'AAECAwQF/w==', []],
  [treat.FILE, 'https://host/a', []],
  [treat.FILE, 'ftp://host/a', [['user', 'p: ftp://host/a']]],
  [treat.ID, 'a-1', []],
  [treat.ID, 'a b', [['(user)', 'p: a b!']]],
  [treat.ID, 'data:,a', [['(user)', 'p: data:,a!']]],
  [treat.ID, ['a-1'], [['(user)', 'p[0]: a-1']]],
  [treat.USAGE, 'a b', []],
  [treat.USAGE, { x: 'a' }, []],
  [treat.ADDRESS, 'https://host/a', []],
  [treat.ADDRESS, 'a b', [['(user)', 'p: a b!']]],
  [treat.ADDRESS, ' DATA:,a%20b', [['user', 'p:  DATA:,a%20b (base64)']]],
])('with the treatment %j, the texts of %j are %j', (treatment, value, texts) => {
  expect(read({ p: value }, { places: { p: treatment } })).toEqual(texts)
})

test('only what has strings is shown as unchecked', () => {
  const places = { a: treat.USAGE, b: treat.ID, c: treat.FILE, d: treat.ADDRESS, e: treat.FILE }
  expect(exemptOf({ a: { x: 1 }, b: 'i', c: 'AAECAwQF/w==', d: 'https://host', e: 's3://x' }, places)).toEqual([
    `a: ${treat.USAGE.reason}`,
    `b: ${treat.ID.reason}`,
    `c: ${treat.MEDIA.reason}`,
    `d: ${treat.ADDRESS.reason}`,
    `e: ${treat.ADDRESS.reason}`,
  ])
  expect(exemptOf({ a: [] }, places)).toEqual([`a: ${treat.USAGE.reason}`])
  for (const body of [{ a: 1 }, { a: null }, { b: 1 }, { b: 'a b' }, { c: 'YWI=' }])
    expect(exemptOf(body, places)).toEqual([])
})

test('the signature of a thought is fixed, and without one its strings can change', () => {
  const places = { 'a.x': treat.signedBy('sig'), 'a.sig': treat.ENCRYPTED }
  expect(read({ a: { x: 'b', sig: 'c2ln' } }, { places })).toEqual([['(user)', 'a.x: b!']])
  expect(read({ a: { x: 'b', sig: '' } }, { places })).toEqual([['(user)', 'a.x: b']])
  expect(read({ a: { x: 'b' } }, { places })).toEqual([['(user)', 'a.x: b']])
  const joined = { places: { ...places, 'a.x': treat.signedTextBy('sig') } }
  expect(read({ a: { x: 'b', sig: 'c2ln' } }, joined)).toEqual([['user', 'a.x: b!']])
  expect(read({ a: { x: 'b' } }, joined)).toEqual([['user', 'a.x: b']])
  expect(read({ a: { x: ['b'] } }, joined)).toEqual([['(user)', 'a.x[0]: b']])
})

test('what is unknown in a part is its text, unless the part has a text', () => {
  const table: Partial<TextTable> = {
    places: { 'p[]': treat.PART, 'p[].text': treat.TEXT, 'p[].{name,n.m}': treat.FIXED, 'p[].in[]': treat.PART },
    repeats: {},
  }
  expect(read({ p: [{ x: 'a', name: 'b' }] }, table)).toEqual([
    ['user', 'p[0].x: a'],
    ['(user)', 'p[0].name: b!'],
  ])
  expect(read({ p: [{ x: 'a', text: 'b' }] }, table)).toEqual([
    ['user', 'p[0].text: b'],
    ['(user)', 'p[0].x: a'],
  ])
  expect(read({ p: [{ in: [{ x: 'a' }], y: 'b' }, 'c'] }, table)).toEqual([
    ['user', 'p[0].in[0].x: a', 'p[1]: c'],
    ['(user)', 'p[0].y: b'],
  ])
})

test('members are known in any case, but a variant of an exempt one is checked', () => {
  const places = { 'a.text': treat.TEXT, 'a.id': treat.ID, 'a.name': treat.FIXED }
  expect(read({ a: { TEXT: 'x', Id: 'y-1', NAME: 'z', te_xt: 'w' } }, { places })).toEqual([
    ['user', 'a.TEXT: x'],
    ['(user)', 'a.Id: y-1', 'a.NAME: z!', 'a.te_xt: w'],
  ])
})

test('the media type of a file is in its own member', () => {
  const places = { 'f.{data,raw}': treat.fileOf('media_type'), 'f.media_type': treat.TYPE }
  const document = documentOf({ f: { media_type: 'text/plain', data: 'YWI=' } })
  const { runs } = runAtOnce(readTexts(document, compileTable({ ...EMPTY, places })))
  expect(runs[0]?.places).toMatchObject([{ form: 'base64', mediaType: 'text/plain', canChange: true }])
  const other = { f: { media_type: 'application/pdf', data: 'YWI=' } }
  expect(read(other, { places })).toEqual([['user', 'f.data: YWI=! (base64)']])
  expect(read({ f: { type: 'text', data: 'YWI=' } }, { places: { ...places, 'f.type': treat.TYPE } })).toEqual([
    ['user', 'f.data: YWI='],
  ])
})
