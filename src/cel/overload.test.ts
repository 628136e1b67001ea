import { expect, test } from 'vitest'
import { compile, createEnvironment, define, HostObject } from './index.ts'

class Thing extends HostObject {
  readonly typeName = 'thing'
}

class Other extends HostObject {
  readonly typeName = 'other'
}

const TYPES = [
  ...['bool', 'string', 'int', 'null', 'uint', 'double', 'bytes', 'timestamp', 'duration', 'type', 'thing'],
  ...['list(dyn)', 'map(dyn, dyn)', 'optional_type(dyn)'],
]

const environment = createEnvironment<null>({
  variables: [
    { path: 'thing', type: 'dyn', read: () => new Thing() },
    { path: 'other', type: 'dyn', read: () => new Other() },
  ],
  types: [{ name: 'thing' }],
  functions: TYPES.map((type) => define(`typed(${type}) -> string`, () => type)),
})

test.each([
  ['true', 'bool'],
  ['"a"', 'string'],
  ['1', 'int'],
  ['9223372036854775807', 'int'],
  ['null', 'null'],
  ['1u', 'uint'],
  ['1.0', 'double'],
  ['b"a"', 'bytes'],
  ['timestamp(0)', 'timestamp'],
  ['duration("1s")', 'duration'],
  ['int', 'type'],
  ['thing', 'thing'],
  ['[1]', 'list(dyn)'],
  ['{1: 2}', 'map(dyn, dyn)'],
  ['optional.of(1)', 'optional_type(dyn)'],
  ['other', undefined],
])('the value of %s chooses the overload for %s', (source, type) => {
  const { program } = compile(`typed(dyn(${source}))`, environment)
  const result = program?.evaluate(null)
  if (type === undefined) expect(result).toMatchObject({ code: 'no-such-overload' })
  else expect(result).toBe(type)
})
