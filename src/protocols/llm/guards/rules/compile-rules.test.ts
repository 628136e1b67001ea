import { expect, test } from 'vitest'
import { compileRules } from './compile-rules.ts'

test('patterns come before built-in rules; labels name no pattern', () => {
  const rules = compileRules({ matches: ['a', 'b+'], builtins: ['Email', 'Ssn'] }, () => {})
  expect(rules.map(({ label, placeholder }) => `${label} ${placeholder}`)).toEqual([
    'matches[0] <masked>',
    'matches[1] <masked>',
    'Email <EMAIL_ADDRESS>',
    'Ssn <SSN>',
  ])
})

test('patterns that cannot run are reported with their path', () => {
  const faults: string[] = []
  const rules = compileRules({ matches: ['(?=a)', 'b', 'a{998}'.repeat(11)] }, (path, message) => {
    faults.push(`${path} ${message}`)
  })
  expect(rules.map(({ label }) => label)).toEqual(['matches[1]'])
  expect(faults).toEqual([
    expect.stringMatching(/^\.matches\[0\] not in RE2 syntax: /),
    expect.stringMatching(/^\.matches\[2\] compiles to \d+ states; at most 10000 are allowed/),
  ])
})

test.each([
  ['a[^b]*b', 256],
  [`a${'x{1000}'.repeat(5)}b`, 4096],
])('of a text that may be the beginning of a match of %s, a stream holds %i bytes, and then none', (pattern, held) => {
  const [rule] = compileRules({ matches: [pattern] }, () => {})
  const scanner = rule!.scan()
  scanner.push(`a${'x'.repeat(held - 1)}`)
  expect(scanner.settled).toBe(0)
  scanner.push('x')
  expect(scanner.settled).toBeGreaterThan(0)
})
