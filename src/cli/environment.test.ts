import { expect, test } from 'vitest'
import { oneOf, readVariable, type Setting } from './environment.ts'
import { UsageError } from './usage-error.ts'

test('an empty variable is unset', () => {
  const environment = { POD_NAME: '', GATEWAY: 'x' }
  const names = ['POD_NAME', 'GATEWAY', 'NAMESPACE'] as const
  expect(names.map((name) => readVariable(environment, name))).toEqual([undefined, 'x', undefined])
})

test.each<[string, string | undefined, string | undefined, string | undefined]>([
  ['the first setting takes precedence', 'a', 'b', 'a'],
  ['an empty one is unset', '', 'b', 'b'],
  ['neither is set', undefined, '', undefined],
])('%s', (_, flag, variable, expected) => {
  expect(oneOf(['a', 'b'], ['--flag', flag], ['VARIABLE', variable])).toBe(expected)
})

test.each<[Setting, string]>([
  [['--flag', 'd'], '--flag is d; it must be a, b or c'],
  [['VARIABLE', 'A'], 'VARIABLE is A; it must be a, b or c'],
])('%j is refused', (setting, message) => {
  expect(() => oneOf(['a', 'b', 'c'], setting)).toThrow(new UsageError(message))
})
