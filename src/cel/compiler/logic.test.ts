import { expect, test } from 'vitest'
import { CelError, compile, createEnvironment, type Result } from '../index.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e']
const FAILED = new CelError('failed', 'cannot be read')

const environment = createEnvironment<readonly Result[]>({
  variables: NAMES.map((path, i) => ({ path, type: 'dyn', read: (values) => values[i]! })),
})

function evaluatorOf(source: string): (values: readonly Result[]) => unknown {
  const { program } = compile(source, environment)
  return (values) => {
    const result = program!.evaluate(values)
    return result instanceof CelError ? result.message : result
  }
}

const VALUES: readonly (readonly [value: Result, outcome: boolean | string])[] = [
  [true, true],
  [false, false],
  [7, 'no such overload: bool expected, found int'],
  [FAILED, 'cannot be read'],
]

/** All lists of so many values. */
function* combinations(length: number): Iterable<typeof VALUES> {
  if (length === 0) yield []
  else for (const rest of combinations(length - 1)) for (const value of VALUES) yield [...rest, value]
}

test.each([
  ['&&', false],
  ['||', true],
] as const)('%s: %s decides from any place; else the first failure does', (operator, decisive) => {
  for (const names of NAMES.map((_, i) => NAMES.slice(0, i + 1))) {
    // A constant that does not decide is no operand, so that one variable is enough.
    const evaluate = evaluatorOf([...names, String(!decisive)].join(operator))
    for (const values of combinations(names.length)) {
      const outcomes = values.map(([, outcome]) => outcome)
      const failure = outcomes.find((outcome) => typeof outcome === 'string')
      const expected = outcomes.includes(decisive) ? decisive : (failure ?? !decisive)
      expect(evaluate(values.map(([value]) => value)), outcomes.join(operator)).toBe(expected)
    }
  }
})

test.each([
  ['!a', [false, true]],
  ['a ? "then" : "else"', ['then', 'else']],
])('%s', (source, [ofTrue, ofFalse]) => {
  const evaluate = evaluatorOf(source)
  const expected = [ofTrue, ofFalse, 'no such overload: bool expected, found int', 'cannot be read']
  expect(VALUES.map(([value]) => evaluate([value]))).toEqual(expected)
})

test.each([
  ['true && true', true],
  ['false || false', false],
  ['a || true', true],
  ['false && a', false],
  ['true && a', undefined],
])('%s: constant %s', (source, constant) => {
  expect(compile(source, environment).program?.constant).toBe(constant)
})
