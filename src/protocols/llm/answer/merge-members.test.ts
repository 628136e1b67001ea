import { expect, test } from 'vitest'
import { parseExactJson } from '#base/exact-json.ts'
import { isObject, membersIn, mergeMembers, setMember } from './merge-members.ts'

/** What pieces are together. */
function mergedOf(...pieces: unknown[]): unknown {
  const target = membersIn({})
  for (const piece of pieces) mergeMembers(target, piece)
  return JSON.parse(JSON.stringify(target))
}

test('a copy of an object has its members, and any other value has none', () => {
  const given = { a: 1, toString: 2 }
  const copy = membersIn(given)
  expect([Object.entries(copy), Object.getPrototypeOf(copy)]).toEqual([Object.entries(given), null])
  copy.a = 3
  expect(given.a).toBe(1)
  for (const value of ['ab', ['a'], null, undefined, 7, parseExactJson('1.0')]) {
    expect(Object.keys(membersIn(value))).toEqual([])
  }
})

test.each<[value: unknown, is: boolean]>([
  [{}, true],
  [membersIn({}), true],
  [[], false],
  [null, false],
  [undefined, false],
  ['a', false],
  [parseExactJson('1.0'), false],
])('%j is an object: %j', (value, is) => expect(isObject(value)).toBe(is))

test('a set member counts with its name and an overhead, and later only what it grows', () => {
  const target = membersIn({})
  const set = (value: unknown) => setMember(target, 'ab', value)
  expect(set(undefined)).toBe(0)
  expect(set('xyz')).toBe(64 + 2 + 3)
  expect(set('xyz')).toBe(0)
  expect(set('xyzxyz')).toBe(3)
  expect(set('x')).toBe(0)
  expect(set({ a: 1 })).toBe('{"a":1}'.length - 1)
  expect(set(undefined)).toBe(0)
  expect(setMember(target, 'f', () => {})).toBe(64 + 1)
  expect(Object.keys(target)).toEqual(['ab', 'f'])
})

test.each<[what: string, pieces: unknown[], whole: unknown]>([
  ['texts are joined', [{ a: 'x' }, { a: 'y' }], { a: 'xy' }],
  ['a text begins', [{ a: '' }, { a: 'y' }], { a: 'y' }],
  ['no piece', [{ a: 'x' }, undefined, null, {}], { a: 'x' }],
  ['null changes nothing', [{ a: 'x' }, { a: null }, { a: 'y' }], { a: 'xy' }],
  ['null is known', [{ a: null }], { a: null }],
  ['the last number counts', [{ a: 1 }, { a: 2 }], { a: 2 }],
  ['a number after a text', [{ a: 'x' }, { a: 2 }], { a: 2 }],
  ['a text after a number', [{ a: 2 }, { a: 'x' }], { a: 'x' }],
  ['objects are merged', [{ a: { b: 'x', c: 'y' } }, { a: { b: 'z' } }], { a: { b: 'xz', c: 'y' } }],
  ['an object after a text', [{ a: 'x' }, { a: { b: 'y' } }], { a: { b: 'y' } }],
  ['an object after a list', [{ a: ['x'] }, { a: { b: 'y' } }], { a: { b: 'y' } }],
  ['lists are continued', [{ a: ['x'] }, { a: ['y', 1] }], { a: ['x', 'y', 1] }],
  ['a list after a text', [{ a: 'x' }, { a: ['y'] }], { a: ['y'] }],
  ['a text after a list', [{ a: ['x'] }, { a: 'y' }], { a: 'y' }],
  ['elements without index', [{ a: [{ b: 'x' }] }, { a: [{ b: 'y' }] }], { a: [{ b: 'x' }, { b: 'y' }] }],
  [
    'elements with an index',
    [
      {
        a: [
          { index: 0, b: 'x' },
          { index: 1, b: 'y' },
        ],
      },
      { a: [{ index: 0, b: 'z' }] },
    ],
    {
      a: [
        { index: 0, b: 'xz' },
        { index: 1, b: 'y' },
      ],
    },
  ],
  [
    'elements with an index and other ids',
    [{ a: [{ index: 0, id: 'c', b: 'x' }] }, { a: [{ index: 0, id: 'd', b: 'y' }] }, { a: [{ index: 0, b: 'z' }] }],
    {
      a: [
        { index: 0, id: 'c', b: 'x' },
        { index: 0, id: 'd', b: 'yz' },
      ],
    },
  ],
  [
    'elements with an index and the same id',
    [{ a: [{ index: 0, id: 'c', b: 'x' }] }, { a: [{ index: 0, id: 'c', b: 'y' }] }],
    { a: [{ index: 0, id: 'c', b: 'xy' }] },
  ],
  [
    'an id that comes later',
    [{ a: [{ index: 0, b: 'x' }] }, { a: [{ index: 0, id: 'c', b: 'y' }] }, { a: [{ index: 0, id: '', b: 'z' }] }],
    { a: [{ index: 0, id: 'c', b: 'xyz' }] },
  ],
  [
    'a list of parts after a text',
    [{ content: 'x' }, { content: [{ type: 'text', text: 'y' }] }],
    {
      content: [
        { type: 'text', text: 'x' },
        { type: 'text', text: 'y' },
      ],
    },
  ],
  [
    'a list of parts after an empty text',
    [{ content: '' }, { content: [{ type: 'image' }] }],
    { content: [{ type: 'image' }] },
  ],
  [
    'a text after a list of parts',
    [{ content: [{ type: 'text', text: 'x' }] }, { content: 'y' }],
    { content: [{ type: 'text', text: 'xy' }] },
  ],
  [
    'a text after a part that is no text',
    [{ content: [{ type: 'thinking', text: 'x' }] }, { content: 'y' }, { content: 'z' }],
    {
      content: [
        { type: 'thinking', text: 'x' },
        { type: 'text', text: 'yz' },
      ],
    },
  ],
  [
    'a text after a part without text',
    [{ content: [{ type: 'text' }] }, { content: 'y' }],
    { content: [{ type: 'text' }, { type: 'text', text: 'y' }] },
  ],
  ['an empty text after a list of parts', [{ content: [1] }, { content: '' }, { content: 7 }], { content: [1] }],
])('%s', (_, pieces, whole) => expect(mergedOf(...pieces)).toEqual(whole))

test.each(['role', 'type', 'id', 'name', 'format', 'signature'])('%s may be repeated', (name) => {
  expect(mergedOf({ [name]: 'x' }, { [name]: 'x' }, { [name]: 'y' })).toEqual({ [name]: 'x' })
  expect(mergedOf({ [name]: '' }, { [name]: 'x' })).toEqual({ [name]: 'x' })
})

test('pieces of base64 are one text of base64', () => {
  const pieces = ['ab', 'cde', 'f'].map((text) => ({ data: btoa(text) }))
  expect(mergedOf(...pieces)).toEqual({ data: btoa('abcdef') })
  expect(mergedOf({ data: btoa('abc') }, { data: btoa('d') })).toEqual({ data: btoa('abcd') })
  // A text may be cut anywhere.
  expect(mergedOf({ data: 'YW' }, { data: 'Jj' })).toEqual({ data: 'YWJj' })
  // What is no base64 is kept as it came.
  expect(mergedOf({ data: 'YQ==' }, { data: '!' })).toEqual({ data: 'YQ==!' })
  expect(mergedOf({ other: 'YQ==' }, { other: 'Yg==' })).toEqual({ other: 'YQ==Yg==' })
})
