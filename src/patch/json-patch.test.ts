import { describe, expect, test } from 'vitest'
import type { Json } from '#base/json.ts'
import { parseJson } from '#base/parse-json.ts'
import { applyJsonPatch } from './json-patch.ts'

/** Documents and patches are texts, as in RFC 6902, so that `__proto__` is a member like others. */
function apply(document: string, patch: string) {
  return applyJsonPatch(parseJson(document) as Json, parseJson(patch))
}

const MISSING = 'missing value'

describe('RFC 6902, appendix A', () => {
  test.each([
    ['A.1 add a member', '{"foo":"bar"}', '[{"op":"add","path":"/baz","value":"qux"}]', '{"foo":"bar","baz":"qux"}'],
    [
      'A.2 add an item',
      '{"foo":["bar","baz"]}',
      '[{"op":"add","path":"/foo/1","value":"qux"}]',
      '{"foo":["bar","qux","baz"]}',
    ],
    ['A.3 remove a member', '{"baz":"qux","foo":"bar"}', '[{"op":"remove","path":"/baz"}]', '{"foo":"bar"}'],
    ['A.4 remove an item', '{"foo":["bar","qux","baz"]}', '[{"op":"remove","path":"/foo/1"}]', '{"foo":["bar","baz"]}'],
    [
      'A.5 replace',
      '{"baz":"qux","foo":"bar"}',
      '[{"op":"replace","path":"/baz","value":"boo"}]',
      '{"baz":"boo","foo":"bar"}',
    ],
    [
      'A.6 move a member',
      '{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}',
      '[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]',
      '{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}',
    ],
    [
      'A.7 move an item',
      '{"foo":["all","grass","cows","eat"]}',
      '[{"op":"move","from":"/foo/1","path":"/foo/3"}]',
      '{"foo":["all","cows","eat","grass"]}',
    ],
    [
      'A.8 test, success',
      '{"baz":"qux","foo":["a",2,"c"]}',
      '[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]',
      '{"baz":"qux","foo":["a",2,"c"]}',
    ],
    [
      'A.10 add a nested member',
      '{"foo":"bar"}',
      '[{"op":"add","path":"/child","value":{"grandchild":{}}}]',
      '{"foo":"bar","child":{"grandchild":{}}}',
    ],
    [
      'A.11 ignore unknown members',
      '{"foo":"bar"}',
      '[{"op":"add","path":"/baz","value":"qux","xyz":123}]',
      '{"foo":"bar","baz":"qux"}',
    ],
    ['A.14 escapes', '{"/":9,"~1":10}', '[{"op":"test","path":"/~01","value":10}]', '{"/":9,"~1":10}'],
    [
      'A.16 add a list',
      '{"foo":["bar"]}',
      '[{"op":"add","path":"/foo/-","value":["abc","def"]}]',
      '{"foo":["bar",["abc","def"]]}',
    ],
  ])('%s', (_, document, patch, result) => {
    expect(apply(document, patch)).toEqual({ value: parseJson(result) })
  })

  test.each([
    [
      'A.9 test, failure',
      '{"baz":"qux"}',
      '[{"op":"test","path":"/baz","value":"bar"}]',
      'testing value /baz failed: test failed',
    ],
    [
      'A.12 add to a missing parent',
      '{"foo":"bar"}',
      '[{"op":"add","path":"/baz/bat","value":"qux"}]',
      `add operation does not apply: doc is missing path: /baz/bat: ${MISSING}`,
    ],
    [
      'A.15 numbers are not texts',
      '{"/":9,"~1":10}',
      '[{"op":"test","path":"/~01","value":"10"}]',
      'testing value /~01 failed: test failed',
    ],
  ])('%s', (_, document, patch, message) => {
    expect(apply(document, patch)).toEqual({ failure: { reason: 'Invalid', message } })
  })
})

describe('other documents and patches', () => {
  test.each([
    ['no operation', '{"a":1}', '[]', '{"a":1}'],
    ['add replaces a member', '{"a":1}', '[{"op":"add","path":"/a","value":null}]', '{"a":null}'],
    ['add replaces the document', '{"a":1}', '[{"op":"add","path":"","value":[1]}]', '[1]'],
    ['replace replaces the document', '{"a":1}', '[{"op":"replace","path":"","value":{"b":2}}]', '{"b":2}'],
    [
      'test of the document',
      '{"a":[1,{"b":2,"c":3}]}',
      '[{"op":"test","path":"","value":{"a":[1,{"c":3,"b":2}]}}]',
      '{"a":[1,{"b":2,"c":3}]}',
    ],
    ['test of numbers in other forms', '{"a":1}', '[{"op":"test","path":"/a","value":1.0e0}]', '{"a":1}'],
    ['test of null', '{"a":null}', '[{"op":"test","path":"/a","value":null}]', '{"a":null}'],
    ['the empty name', '{"":{"":1}}', '[{"op":"replace","path":"//","value":2}]', '{"":{"":2}}'],
    ['a name that looks like an index', '{"0":1}', '[{"op":"replace","path":"/0","value":2}]', '{"0":2}'],
    ['a name with both escapes', '{"a/b~c":1}', '[{"op":"remove","path":"/a~1b~0c"}]', '{}'],
    ['add after the last item', '[1]', '[{"op":"add","path":"/1","value":2}]', '[1,2]'],
    [
      'copy',
      '{"a":{"b":1}}',
      '[{"op":"copy","from":"/a","path":"/c"},{"op":"add","path":"/c/d","value":2}]',
      '{"a":{"b":1},"c":{"b":1,"d":2}}',
    ],
    [
      'copy of what was changed before',
      '{"a":{}}',
      '[{"op":"add","path":"/a/b","value":1},{"op":"copy","from":"/a","path":"/c"},{"op":"remove","path":"/a/b"}]',
      '{"a":{},"c":{"b":1}}',
    ],
    ['copy an object into itself', '{"a":{}}', '[{"op":"copy","from":"/a","path":"/a/b"}]', '{"a":{"b":{}}}'],
    ['move to the same place', '{"a":1}', '[{"op":"move","from":"/a","path":"/a"}]', '{"a":1}'],
    ['move to its parent', '{"a":{"b":1}}', '[{"op":"move","from":"/a/b","path":"/a"}]', '{"a":1}'],
    ['move beside a longer name', '{"a":1,"ab":{}}', '[{"op":"move","from":"/a","path":"/ab/c"}]', '{"ab":{"c":1}}'],
    [
      '__proto__ is a name',
      '{}',
      '[{"op":"add","path":"/__proto__","value":{"polluted":true}}]',
      '{"__proto__":{"polluted":true}}',
    ],
    [
      '__proto__ within, copied',
      '{"a":{"__proto__":{}}}',
      '[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/a/__proto__/x","value":1}]',
      '{"a":{"__proto__":{"x":1}},"b":{"__proto__":{}}}',
    ],
  ])('%s', (_, document, patch, result) => {
    const { value } = apply(document, patch)
    expect(JSON.stringify(value)).toBe(JSON.stringify(parseJson(result)))
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test.each([
    [
      'inherited members are missing',
      '{}',
      '[{"op":"test","path":"/toString","value":null}]',
      `test operation does not apply: doc is missing path: /toString: ${MISSING}`,
    ],
    [
      'nothing is added to a prototype',
      '{}',
      '[{"op":"add","path":"/__proto__/x","value":1}]',
      `add operation does not apply: doc is missing path: /__proto__/x: ${MISSING}`,
    ],
    [
      'remove nothing',
      '{}',
      '[{"op":"remove","path":"/a"}]',
      `remove operation does not apply: doc is missing path: /a: ${MISSING}`,
    ],
    [
      'remove the document',
      '{}',
      '[{"op":"remove","path":""}]',
      'remove operation does not apply: the whole document cannot be removed',
    ],
    [
      'replace nothing',
      '{}',
      '[{"op":"replace","path":"/a","value":1}]',
      `replace operation does not apply: doc is missing key: /a: ${MISSING}`,
    ],
    [
      'replace after the last item',
      '[1]',
      '[{"op":"replace","path":"/1","value":1}]',
      `replace operation does not apply: doc is missing key: /1: ${MISSING}`,
    ],
    [
      'replace "-"',
      '[1]',
      '[{"op":"replace","path":"/-","value":1}]',
      `replace operation does not apply: doc is missing key: /-: ${MISSING}`,
    ],
    [
      'add beyond the end',
      '[1]',
      '[{"op":"add","path":"/2","value":1}]',
      'add operation does not apply: invalid index: /2',
    ],
    [
      'an index with a leading zero',
      '[1]',
      '[{"op":"add","path":"/01","value":1}]',
      'add operation does not apply: invalid index: /01',
    ],
    [
      'a negative index',
      '[1]',
      '[{"op":"add","path":"/-1","value":1}]',
      'add operation does not apply: invalid index: /-1',
    ],
    [
      'an index that is a name',
      '[1]',
      '[{"op":"remove","path":"/length"}]',
      `remove operation does not apply: doc is missing path: /length: ${MISSING}`,
    ],
    [
      'a member of a text',
      '{"a":"text"}',
      '[{"op":"add","path":"/a/b","value":1}]',
      `add operation does not apply: doc is missing path: /a/b: ${MISSING}`,
    ],
    [
      'a member of null',
      '{"a":null}',
      '[{"op":"add","path":"/a/b","value":1}]',
      `add operation does not apply: doc is missing path: /a/b: ${MISSING}`,
    ],
    [
      'move into itself',
      '{"a":{"b":{}}}',
      '[{"op":"move","from":"/a","path":"/a/b/c"}]',
      'move operation does not apply: cannot move /a into itself: /a/b/c',
    ],
    [
      'move from nowhere',
      '{}',
      '[{"op":"move","from":"/a","path":"/b"}]',
      `move operation does not apply: doc is missing from path: /a: ${MISSING}`,
    ],
    [
      'copy from nowhere',
      '{}',
      '[{"op":"copy","from":"/a","path":"/b"}]',
      `copy operation does not apply: doc is missing from path: /a: ${MISSING}`,
    ],
    [
      'a later failure',
      '{"a":1}',
      '[{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}]',
      `remove operation does not apply: doc is missing path: /a: ${MISSING}`,
    ],
  ])('refused: %s', (_, document, patch, message) => {
    expect(apply(document, patch)).toEqual({ failure: { reason: 'Invalid', message } })
  })

  test.each([
    ['{}', 'a JSON patch is a list of operations'],
    ['[1]', 'operation 0: an operation is an object'],
    ['[{"path":"/a"}]', 'operation 0: op must be a string'],
    ['[{"op":"add","value":1}]', 'operation 0: path must be a string'],
    ['[{"op":"add","path":["a"],"value":1}]', 'operation 0: path must be a string'],
    ['[{"op":"test","path":""},{"op":"add","path":"/a"}]', 'operation 0: test needs a value'],
    ['[{"op":"remove","path":"/a"},{"op":"add","path":"/a"}]', 'operation 1: add needs a value'],
    ['[{"op":"move","path":"/a"}]', 'operation 0: from must be a string'],
    ['[{"op":"merge","path":"/a","value":1}]', 'operation 0: unknown operation "merge"'],
    ['[{"op":"constructor","path":"/a","value":1}]', 'operation 0: unknown operation "constructor"'],
  ])('malformed: %s', (patch, message) => {
    expect(apply('{"a":1}', patch)).toEqual({
      failure: { reason: 'BadRequest', message: `error decoding patch: ${message}` },
    })
  })

  test.each([
    ['a', 'invalid JSON pointer "a": must begin with "/"'],
    ['#/a', 'invalid JSON pointer "#/a": must begin with "/"'],
    ['/a~', 'invalid JSON pointer token "a~": "~" must be followed by 0 or 1'],
    ['/~2', 'invalid JSON pointer token "~2": "~" must be followed by 0 or 1'],
  ])('malformed pointer: %s', (path, message) => {
    expect(applyJsonPatch({}, [{ op: 'remove', path }])).toEqual({ failure: { reason: 'BadRequest', message } })
  })

  test('the document stays as it was', () => {
    const document = { a: { b: [1, { c: 2 }] }, d: { e: 1 } }
    const before = structuredClone(document)
    const { value } = applyJsonPatch(document, [
      { op: 'add', path: '/a/b/1/x', value: 1 },
      { op: 'remove', path: '/a/b/0' },
    ])
    expect(document).toEqual(before)
    expect(value).toEqual({ a: { b: [{ c: 2, x: 1 }] }, d: { e: 1 } })
    expect((value as typeof document).d).toBe(document.d)
  })
})

describe('bounds', () => {
  test('10,000 operations', () => {
    const patch = Array.from({ length: 10_000 }, (_, i) => ({ op: 'add', path: '/0', value: i }))
    expect((applyJsonPatch([], patch).value as Json[]).length).toBe(10_000)
    const message = 'The allowed maximum operations in a JSON patch is 10000, got 10001'
    expect(applyJsonPatch([], [...patch, patch[0]])).toEqual({ failure: { reason: 'RequestEntityTooLarge', message } })
  })

  test('copies of copies', () => {
    const patch = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/${i}` }))
    const { failure } = applyJsonPatch({ a: { text: 'x'.repeat(1000) } }, patch)
    expect(failure?.reason).toBe('RequestEntityTooLarge')
    expect(failure?.message).toMatch(
      /^Unable to complete the copy, the accumulated size increase of copy is \d+, exceeding the limit 3145728$/,
    )
  })
})
