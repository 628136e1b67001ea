import { expect, test } from 'vitest'
import { CelError, compile, createEnvironment, fromJson, toJson } from '../index.ts'

const environment = createEnvironment<unknown>({
  variables: [{ path: 'data', type: 'map(string, dyn)', read: (data) => fromJson(data) }],
})

function evaluate(source: string, data: unknown = {}): unknown {
  const { program, problems } = compile(source, environment)
  if (program === undefined) return problems.map(({ message }) => message)
  const result = program.evaluateTo(data, toJson)
  return result instanceof CelError ? result.message : result
}

/** A value of each type whose operators are not known before the evaluation. */
const VALUES = {
  bool: 'true',
  int: '7',
  uint: '7u',
  double: '7.0',
  string: '"a"',
  bytes: 'b"a"',
  list: '[1]',
  'google.protobuf.Duration': 'duration("90s")',
  'google.protobuf.Timestamp': 'timestamp("2026-01-01T00:00:00Z")',
}

/** What every operator gives for two values of these types; all other pairs have no result. */
const RESULTS: Readonly<Record<string, unknown>> = {
  'int + int': 14,
  'int - int': 0,
  'int * int': 49,
  'int / int': 1,
  'int % int': 0,
  'uint + uint': 14,
  'uint - uint': 0,
  'uint * uint': 49,
  'uint / uint': 1,
  'uint % uint': 0,
  'double + double': 14,
  'double - double': 0,
  'double * double': 49,
  'double / double': 1,
  'string + string': 'aa',
  'bytes + bytes': 'YWE=',
  'list + list': [1, 1],
  'google.protobuf.Duration + google.protobuf.Duration': '180s',
  'google.protobuf.Duration - google.protobuf.Duration': '0s',
  'google.protobuf.Duration + google.protobuf.Timestamp': '2026-01-01T00:01:30Z',
  'google.protobuf.Timestamp + google.protobuf.Duration': '2026-01-01T00:01:30Z',
  'google.protobuf.Timestamp - google.protobuf.Duration': '2025-12-31T23:58:30Z',
  'google.protobuf.Timestamp - google.protobuf.Timestamp': '0s',
}

test.each(['+', '-', '*', '/', '%'])('%s between values of all types', (operator) => {
  for (const [left, a] of Object.entries(VALUES)) {
    for (const [right, b] of Object.entries(VALUES)) {
      const form = `${left} ${operator} ${right}`
      expect(evaluate(`dyn(${a}) ${operator} dyn(${b})`), form).toEqual(RESULTS[form] ?? `no such overload: ${form}`)
    }
  }
})

test.each([
  ['data.a + "/" + data.b', 'x/y'],
  ['data.a + "/" + data.n', 'no such overload: string + int'],
  ['data.n + "/" + data.a', 'no such overload: string + int'],
  ['data.a + data.b + data.b + data.n', 'no such overload: string + int'],
  ['data.a + "/" + data.none', 'no such key: none'],
  ['data.n < data.none', 'no such key: none'],
  ['data.none < data.n', 'no such key: none'],
])('%s', (source, expected) => {
  expect(evaluate(source, { a: 'x', b: 'y', n: 1 })).toEqual(expected)
})

test.each([
  ['lists.range(50000) + lists.range(50000)', 100_000],
  ['lists.range(50000) + lists.range(50001)', 'result too large'],
])('the length of %s', (source, expected) => {
  expect(evaluate(`size(${source})`)).toBe(expected)
})
