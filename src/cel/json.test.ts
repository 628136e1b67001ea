import { expect, test } from 'vitest'
import { fromJson, JsonMap, toJson, toJsonText } from './index.ts'
import { EntryMap } from './map-value.ts'
import { Double, HostObject, Timestamp, Uint, type Value } from './value.ts'

test.each([
  [1, 1],
  [-0, 0],
  [1.5, new Double(1.5)],
  [1e20, new Double(1e20)],
  [5n, 5],
  [2n ** 60n, 2n ** 60n],
  [undefined, null],
  [
    [1, [true]],
    [1, [true]],
  ],
  [new Uint(1), new Uint(1)],
])('%s from JSON', (json, value) => {
  expect(fromJson(json)).toStrictEqual(value)
})

test('an object is wrapped, and its members are converted on access', () => {
  const map = fromJson({ a: { b: 1.5 }, c: null })
  expect(map).toBeInstanceOf(JsonMap)
  expect((map as JsonMap).get('a')).toBeInstanceOf(JsonMap)
  expect((map as JsonMap).get('c')).toBe(null)
  expect((map as JsonMap).get('toString')).toBeUndefined()
  expect((map as JsonMap).get('__proto__')).toBeUndefined()
  expect([...(map as JsonMap).keys()]).toEqual(['a', 'c'])
})

test('plain data is returned without copying', () => {
  const data = { a: [1, { b: 'x' }] }
  expect(toJson(fromJson(data))).toBe(data)
})

test('values without a JSON form are converted at any depth', () => {
  const value = fromJson({ a: [2n ** 60n, new Double(1)], t: new Timestamp(0, 0), plain: 1 })
  expect(toJson(value)).toEqual({ a: ['1152921504606846976', 1], t: '1970-01-01T00:00:00Z', plain: 1 })
  expect(toJsonText(value)).toBe('{"a":[1152921504606846976,1],"t":"1970-01-01T00:00:00Z","plain":1}')
})

class Secret extends HostObject {
  readonly typeName = 'secret'
  override toJson(): string {
    return '<redacted>'
  }
}

class Pair extends HostObject {
  readonly typeName = 'pair'
  override member(name: string): Value | undefined {
    return name === 'left' ? 1 : undefined
  }
  override keys(): Iterable<Value> {
    return ['left', 'right']
  }
}

test('host objects define their JSON form', () => {
  expect(toJsonText(new EntryMap().set('s', new Secret()).set(1, new Pair()))).toBe('{"1":{"left":1},"s":"<redacted>"}')
})

test('a member named __proto__ is an ordinary member', () => {
  const map = new EntryMap().set('__proto__', 'x')
  expect(toJsonText(map)).toBe('{"__proto__":"x"}')
})

const nested = (depth: number, open: string, close: string) =>
  JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`)

test('data that is nested too deeply is refused, in any form', () => {
  const map = new EntryMap().set('m', fromJson(nested(900, '[', ']')))
  expect(toJsonText(map)).toContain('[1]')
  for (const value of [nested(100_000, '{"a":', '}'), { a: nested(100_000, '[', ']') }]) {
    expect(() => toJson(fromJson(value))).toThrow(RangeError)
    expect(() => toJsonText(fromJson(value))).toThrow(RangeError)
  }
})
