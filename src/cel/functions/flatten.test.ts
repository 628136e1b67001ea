import { expect, test } from 'vitest'
import { compile, createEnvironment, FLATTEN_FUNCTIONS, Flattened, toJson } from '../index.ts'

function parts(source: string): unknown {
  const result = compile(source, createEnvironment<null>({ functions: FLATTEN_FUNCTIONS })).program!.evaluate(null)
  return result instanceof Flattened ? result.parts().map(([suffix, value]) => [suffix, toJson(value)]) : result
}

test.each([
  [
    'flatten({"a": 1, "b": {"c": 2}})',
    [
      ['.a', 1],
      ['.b', { c: 2 }],
    ],
  ],
  [
    'flattenRecursive({"a": 1, "b": {"c": [2, 3]}})',
    [
      ['.a', 1],
      ['.b.c.0', 2],
      ['.b.c.1', 3],
    ],
  ],
  ['flatten_recursive([[1]])', [['.0.0', 1]]],
  ['flatten("x")', [['', 'x']]],
  ['flatten({1: "x"})', [['.1', 'x']]],
  ['flatten([])', []],
])('%s', (source, expected) => {
  expect(parts(source)).toEqual(expected)
})

test('elsewhere it behaves as the original value', () => {
  const result = compile(
    'toJson({"k": flatten({"a": 1})})',
    createEnvironment<null>({ functions: FLATTEN_FUNCTIONS }),
  ).program!.evaluate(null)
  expect(result).toBe('{"k":{"a":1}}')
})
