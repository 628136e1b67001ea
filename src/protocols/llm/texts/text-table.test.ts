import { expect, test } from 'vitest'
import { readTexts } from './read-texts.ts'
import { runsOf } from './testing.ts'
import { compileTable, expandPaths, under } from './text-table.ts'
import * as treat from './treatments.ts'
import { FIXED, ID, TEXT } from './treatments.ts'

const TABLE = compileTable({
  first: [],
  runs: {},
  places: { 'a.*.b': TEXT, 'a.*.c': FIXED, 'd.e': ID },
  anywhere: { id: ID },
})
const read = (body: unknown) => runsOf(body, (document) => readTexts(document, TABLE))

test('several paths go through the members that a client named', () => {
  expect(read({ a: { x: { b: 'one', c: 'two' } } })).toEqual([
    ['user', 'a{0}.b: one'],
    ['(user)', 'a{0}:name: x!', 'a{0}.c: two!'],
  ])
})

test.each([
  ['d.e', { d: { e: ['looks-like-an-id', { f: 'so-does-this' }] } }],
  ['a member of that name', { d: { id: ['looks-like-an-id'] } }],
])('a list in the place of an id is checked: %s', (_, body) => {
  const texts = read(body).flat().join('\n')
  expect(texts).toContain('looks-like-an-id')
  expect(texts.includes('so-does-this')).toBe(JSON.stringify(body).includes('so-does-this'))
})

test('an id is not', () => {
  expect(read({ d: { e: 'looks-like-an-id', id: 'x-1' } })).toEqual([])
})

const JOINED = compileTable({
  first: [],
  runs: {},
  places: {
    text: TEXT,
    name: FIXED,
    'parts[]': treat.PART,
    'parts[].text': TEXT,
    'parts[].{name,args}': FIXED,
    'parts[].args': treat.ARGUMENTS,
    'parts[].data': treat.FILE,
    'parts[].seen': treat.VISIBLE,
    'parts[].thought': treat.signedTextBy('signature'),
    'parts[].signed': treat.signedBy('signature'),
    'free.*.text': TEXT,
    'own[]': FIXED,
    fixed: FIXED,
    list: TEXT,
    'list[]': TEXT,
    'rows[]': TEXT,
  },
  repeats: { 'parts[].content[]': 'parts[]', own: 'list', other: 'list', fixed: 'list', lines: 'rows' },
  anywhere: { id: ID },
})

/** Each string is alone in its part. Its path, and a body with it. */
const STRINGS: readonly (readonly [path: string, body: object, joins: boolean])[] = [
  ['text', { text: 'a' }, true],
  ['text[0]', { text: ['a'] }, true],
  ['text[0][0]', { text: [['a']] }, true],
  ['text.x', { text: { x: 'a' } }, false],
  ['TEXT', { TEXT: 'a' }, true],
  ['name', { name: 'a' }, false],
  ['name[0]', { name: ['a'] }, false],
  ['x', { x: 'a' }, false],
  ['x[0]', { x: ['a'] }, false],
  ['parts', { parts: 'a' }, false],
  ['parts.x', { parts: { x: 'a' } }, false],
  ['parts[0]', { parts: ['a'] }, true],
  ['parts[0][0]', { parts: [['a']] }, true],
  ['parts[0].text', { parts: [{ text: 'a' }] }, true],
  ['parts[0].text.x', { parts: [{ text: { x: 'a' } }] }, true],
  ['parts[0].name', { parts: [{ name: 'a' }] }, false],
  ['parts[0].name[0]', { parts: [{ name: ['a'] }] }, false],
  ['parts[0].args', { parts: [{ args: 'a' }] }, false],
  ['parts[0].args[0]', { parts: [{ args: ['a'] }] }, false],
  ['parts[0].data', { parts: [{ data: 'YWI=' }] }, true],
  ['parts[0].data[0]', { parts: [{ data: ['a'] }] }, true],
  ['parts[0].seen', { parts: [{ seen: 'a' }] }, false],
  ['parts[0].seen[0]', { parts: [{ seen: ['a'] }] }, true],
  ['parts[0].thought', { parts: [{ thought: 'a' }] }, true],
  ['parts[0].thought[0]', { parts: [{ thought: ['a'] }] }, false],
  ['parts[0].signed', { parts: [{ signed: 'a' }] }, false],
  ['parts[0].x', { parts: [{ x: 'a' }] }, true],
  ['parts[0]{0}', { parts: [{ 'a b': 'a' }] }, true],
  ['parts[0].x[0]', { parts: [{ x: ['a'] }] }, true],
  ['parts[0].id', { parts: [{ id: 'a b' }] }, false],
  ['parts[0].id[0]', { parts: [{ id: ['a'] }] }, true],
  ['parts[0].content', { parts: [{ content: 'a' }] }, true],
  ['parts[0].content.x', { parts: [{ content: { x: 'a' } }] }, true],
  ['parts[0].content[0].x', { parts: [{ content: [{ x: 'a' }] }] }, true],
  ['parts[0].content[0].name', { parts: [{ content: [{ name: 'a' }] }] }, false],
  ['parts[0].content[0].content[0].text', { parts: [{ content: [{ content: [{ text: 'a' }] }] }] }, true],
  ['free{0}.text', { free: { x: { text: 'a' } } }, true],
  ['free{0}.x', { free: { x: { x: 'a' } } }, false],
  ['lines', { lines: 'a' }, false],
  ['lines[0]', { lines: ['a'] }, true],
  ['PARTS[0].text', { PARTS: [{ text: 'a' }] }, true],
  ['own', { own: 'a' }, true],
  ['own[0]', { own: ['a'] }, false],
  ['other', { other: 'a' }, true],
  ['other[0]', { other: ['a'] }, true],
  ['fixed', { fixed: 'a' }, false],
]

test.each(STRINGS)('the string at %s in %j is read together with others: %j', (path, body, joins) => {
  const runs = runsOf(body, (document) => readTexts(document, JOINED))
  const found = runs.map(([role, ...texts]) => [role, texts.find((text) => text.startsWith(`${path}: `))])
  const [role] = found.find(([, text]) => text !== undefined) ?? []
  expect(role).toBe(joins ? 'user' : '(user)')
})

test('a pattern with alternatives stands for several paths', () => {
  expect(expandPaths('a.b')).toEqual(['a.b'])
  expect(expandPaths('{a,b.c}')).toEqual(['a', 'b.c'])
  expect(expandPaths('a.{b,c}.d')).toEqual(['a.b.d', 'a.c.d'])
  expect(expandPaths('{a,b}.{c,d}[]')).toEqual(['a.c[]', 'b.c[]', 'a.d[]', 'b.d[]'])
})

test('paths below another one', () => {
  expect(under('a.b', { '': 1, c: 2, '[]': 3, '[].d': 4, '{e,f}': 5 })).toEqual({
    ...{ 'a.b': 1, 'a.b.c': 2, 'a.b[]': 3, 'a.b[].d': 4, 'a.b.{e,f}': 5 },
  })
})
