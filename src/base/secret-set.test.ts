import { expect, test } from 'vitest'
import { SecretSet } from './secret-set.ts'

test('the values of all sources are hidden, also those that a source had before', () => {
  const secrets = new SecretSet()
  expect(secrets.hide('key-number-1')).toBe('key-number-1')
  secrets.set('a', ['key-number-1', 'key-number-2'])
  secrets.set('b', ['key-number-3'])
  expect(secrets.hideValues('key-number-1 key-number-2 key-number-3 key-number-4')).toBe(
    '<redacted> <redacted> <redacted> key-number-4',
  )
  secrets.set('a', ['key-number-4'])
  secrets.set('b', [])
  expect(secrets.hideValues('key-number-1 key-number-2 key-number-3 key-number-4')).toBe(
    '<redacted> <redacted> <redacted> <redacted>',
  )
  expect(secrets.hide('/a?access_token=x')).toBe('/a?access_token=<redacted>')
})

test('the version changes with the values', () => {
  const secrets = new SecretSet()
  const versions = [secrets.version]
  const change = (values: readonly string[]) => {
    secrets.set('a', values)
    versions.push(secrets.version)
  }
  for (const values of [[], ['value-1', 'value-2'], ['value-1', 'value-2'], ['value-2', 'value-1'], []]) change(values)
  const [first, ...others] = versions
  expect(others.map((version) => version - first!)).toEqual([0, 1, 1, 2, 3])
})

test('of the former values the last 1,000 are hidden', () => {
  const secrets = new SecretSet()
  const value = (i: number) => `token-${`${i}`.padStart(8, '0')}`
  for (let i = 0; i < 1002; i++) secrets.set('a', [value(i)])
  // It is the newest of the former ones again.
  secrets.set('b', [value(1)])
  secrets.set('b', [])
  secrets.set('a', [value(1002)])
  const shown = Array.from({ length: 1003 }, (_, i) => value(i)).filter((one) => secrets.hide(one) === one)
  expect(shown).toEqual([value(0), value(2)])
  for (let i = 1003; i < 2004; i++) secrets.set('a', [value(i)])
  expect(secrets.hide(value(1)), 'no source has it').toBe(value(1))
})
