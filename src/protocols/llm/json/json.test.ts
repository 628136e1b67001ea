import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from '#base/parse-json.ts'
import { BodyEdits, editMembers } from './edit-members.ts'
import { findMember, keyAt, memberCount, scanElements, scanMembers, stringAt, valueAt } from './scan-members.ts'
import { encode } from './splice.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

function scan(json: string) {
  const members = scanMembers(encode(json))
  if ('fault' in members) throw new Error(`${members.fault} at ${members.at}`)
  return members
}

/** JSON text with random whitespace between tokens. */
const spaced = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 40 }), fc.constantFrom(undefined, 1, '\t', ' \n'))
  .map(([value, indent]) => JSON.stringify(value, null, indent))

test('members are those that JSON.parse finds', () => {
  fc.assert(
    fc.property(spaced, (json) => {
      const members = scan(json)
      const expected = Object.entries(parseJson(json) as object)
      expect(memberCount(members)).toBe(expected.length)
      const found = expected.map((_, index) => [keyAt(members, index), parseJson(text(valueAt(members, index)))])
      expect(new Map(found as [string, unknown][])).toEqual(new Map(expected))
    }),
    { numRuns: 300 },
  )
})

test('text that JSON.parse refuses is refused', () => {
  const broken = fc.tuple(spaced, fc.nat(), fc.constantFrom('', ',', ']', '}', '"', '1', 'x', ':', '-', '\\'))
  fc.assert(
    fc.property(broken, ([json, at, junk]) => {
      const cut = at % (json.length + 1)
      const damaged = json.slice(0, cut) + junk + json.slice(cut + 1)
      const result = scanMembers(encode(damaged))
      if (!isValid(damaged)) expect('fault' in result).toBe(true)
      else expect('fault' in result && result.fault === 'not-json').toBe(false)
    }),
    { numRuns: 500 },
  )
})

function isValid(json: string): boolean {
  try {
    parseJson(json)
    return true
  } catch {
    return false
  }
}

const faults: [json: string, fault: string, at: number][] = [
  ['', 'not-json', 0],
  ['   ', 'not-json', 3],
  ['{', 'not-json', 1],
  ['{"a"', 'not-json', 4],
  ['{"a":1', 'not-json', 6],
  ['{"a":1,}', 'not-json', 7],
  ['{"a":1}x', 'not-json', 7],
  ['{"a":01}', 'not-json', 6],
  ['{"a":1.}', 'not-json', 7],
  ['{"a":.5}', 'not-json', 5],
  ['{"a":1e}', 'not-json', 7],
  ['{"a":-}', 'not-json', 6],
  ['{"a":tru}', 'not-json', 8],
  ['{"a":[1,]}', 'not-json', 8],
  ['{"a":[}', 'not-json', 6],
  ['{"a":{"b"}}', 'not-json', 9],
  ['{"a":{,}}', 'not-json', 6],
  ['{"a":"\\"}', 'not-json', 9],
  ['{a:1}', 'not-json', 1],
  ['\ufeff{}', 'not-json', 0],
  ['{"a":\u00a01}', 'not-json', 5],
  ['[]', 'not-an-object', 0],
  [' "x"', 'not-an-object', 1],
  ['{"a":1,"a":2}', 'duplicate-key', 7],
  ['{"a":1,"\\u0061":2}', 'duplicate-key', 7],
  ['{"a":1,"\\a":2}', 'not-json', 8],
  ['{"a\t":2}', 'not-json', 3],
  ['{"a\\u00g0":2}', 'not-json', 3],
  ['{"a":"\t"}', 'not-json', 6],
  ['{"a":["b\\q"]}', 'not-json', 8],
  ['{"a":{"b\n":2}}', 'not-json', 8],
  [`{"a":[{"b":"${'x'.repeat(100)}\u0000"}]}`, 'not-json', 112],
]
for (const [json, fault, at] of faults) {
  test(`refused: ${JSON.stringify(json)}`, () => {
    expect(scanMembers(encode(json))).toEqual({ fault, at })
  })
}

test('depth is limited, length is not', () => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
  expect('fault' in scanMembers(encode(nested(256)))).toBe(false)
  expect(scanMembers(encode(nested(257)))).toEqual({ fault: 'not-json', at: 5 + 256 })
  expect('fault' in scanMembers(encode(nested(2_000_000)))).toBe(true)
  const long = scan(`{"a":"${'x\\\\\\"'.repeat(100_000)}","b":"${'\\\\'.repeat(100_000)}","c":1}`)
  expect(findMember(long, 'c')).toBe(2)
})

test('many members', () => {
  const json = JSON.stringify(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index])))
  expect(findMember(scan(json), 'k499')).toBe(499)
  expect(scanMembers(encode(json.replace('"k499"', '"k0"')))).toMatchObject({ fault: 'duplicate-key' })
})

test('strings and elements', () => {
  const members = scan('{"n":1, "s":"a\\u00e9\\n\u00e9", "l":[ 1 , "]", [2,{}] ,{"a":[]} ]}')
  expect(stringAt(members, 0)).toBeUndefined()
  expect(stringAt(members, 1)).toBe('aé\né')
  const list = valueAt(members, 2)
  const offsets = scanElements(list)
  const elements = Array.from({ length: offsets.length / 2 }, (_, i) =>
    text(list.subarray(offsets[2 * i], offsets[2 * i + 1])),
  )
  expect(elements).toEqual(['1', '"]"', '[2,{}]', '{"a":[]}'])
  expect(scanElements(encode('[ ]'))).toEqual([])
})

const edits = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', 'é', '"d', 'd\\', 'd"', 'd\n', ''),
  fc.option(fc.jsonValue(), { nil: undefined }),
)

test('edits change only the named members', () => {
  const objects = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'é', '"d', 'd\\', 'd"', 'd\n', '1'), fc.jsonValue())
  fc.assert(
    fc.property(objects, edits, fc.constantFrom(undefined, 2), (object, changes, indent) => {
      const changed = new Map(
        Object.entries(changes).map(([key, value]) => [key, value === undefined ? undefined : JSON.stringify(value)]),
      )
      const expected = new Map(Object.entries(parseJson(JSON.stringify(object)) as object))
      for (const [key, json] of changed) {
        if (json === undefined) expected.delete(key)
        else expected.set(key, parseJson(json))
      }
      const result = text(editMembers(scan(JSON.stringify(object, null, indent)), changed))
      expect(new Map(Object.entries(parseJson(result) as object))).toEqual(expected)
    }),
    { numRuns: 400 },
  )
})

test('without edits the bytes are identical', () => {
  const members = scan('{"a":1}')
  expect(new BodyEdits(members).apply()).toBe(members.bytes)
})
