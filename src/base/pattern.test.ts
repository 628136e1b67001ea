import { expect, test } from 'vitest'
import { compilePattern, describePatternFault } from './pattern.ts'

test.each<[pattern: string, fault: string]>([
  ['(', '"(" at character 1 has no closing ")"; write \\( for the character'],
  ['(a)(b(c)', '"(" at character 4 has no closing ")"; write \\( for the character'],
  ['[(]\\(\\Q(\\E((x)', '"(" at character 11 has no closing ")"; write \\( for the character'],
  ['é😀(', '"(" at character 3 has no closing ")"; write \\( for the character'],
  ['[])](', '"(" at character 5 has no closing ")"; write \\( for the character'],
  ['(a)b)c)', '")" at character 5 has no opening "("; write \\) for the character'],
  ['a[b]c[d', '"[" at character 6 has no closing "]"; write \\[ for the character'],
  ['a(?=b)', '"(?=" at character 2 looks around, which RE2 does not have'],
  ['[(?!](?!b)', '"(?!" at character 6 looks around, which RE2 does not have'],
  ['a(?<=b)c', '"(?<=" at character 2 looks around, which RE2 does not have'],
  ['(?<!b)c', '"(?<!" at character 1 looks around, which RE2 does not have'],
  ['a(?>b)', '"(?>" at character 2 is an atomic group, which RE2 does not have and does not need'],
  ['(?#why)a', '"(?#" at character 1 is a comment, which RE2 does not have'],
  [
    'a(?x)b',
    '"(?x" at character 2 is not a group that RE2 has; groups are (...), (?:...), (?P<name>...) and (?i:...) with flags of i, m, s and U',
  ],
  ['(?P<a b>c)', '"(?P<a b>" at character 1 is not a group with a name; write (?P<name>...)'],
  ['(?P<n>a)(?P<n>b)', '"n" at character 13 is the name of another group, too'],
  ['(a)\\1', '"\\1" at character 4 refers back to a group, which RE2 does not have'],
  ['(?P<n>a)\\k<n>', '"\\k" at character 9 refers back to a group, which RE2 does not have'],
  ['\\\\q\\q', '"\\q" at character 4 is not an escape that RE2 has'],
  ['a\\Z', '"\\Z" at character 2 is not an escape that RE2 has; write \\z for the end of the text'],
  ['\\u0041', '"\\u" at character 1 is not an escape that RE2 has; write \\x{...} for a character by its number'],
  ['ab\\', '"\\" at character 3 escapes nothing; write \\\\ for the character'],
  ['a*|*', '"*" at character 4 has nothing to repeat; write \\* for the character'],
  ['[**]a**', '"**" at character 6 repeats a repetition, which RE2 does not have; use a group: (?:...)'],
  [
    '(a{1,100}-){1,200}',
    '"{1,200}" at character 12 is not a valid number of repetitions: RE2 repeats at most 1000 times, with repetitions of a repetition multiplied, and the larger number is the second',
  ],
  [
    'a{2,1}',
    '"{2,1}" at character 2 is not a valid number of repetitions: RE2 repeats at most 1000 times, with repetitions of a repetition multiplied, and the larger number is the second',
  ],
  ['[a-z][z-a]', '"z-a" at character 7 is not an ascending range'],
  ['\\d\\p{Nothing}', '"\\p{Nothing}" at character 3 is not a character class that RE2 has'],
])('%s', (pattern, fault) => {
  expect(compilePattern(pattern)).toBeUndefined()
  expect(describePatternFault(pattern)).toBe(fault)
})

test('a valid pattern has no fault', () => {
  expect(compilePattern('a+')?.matches('aa')).toBe(true)
  expect(describePatternFault('a+')).toBeUndefined()
})

test('a fault in a large pattern is described in bounded time, with a position', () => {
  expect(describePatternFault(`${'\\\\1'.repeat(1000)}\\1`)).toContain('refers back to a group')
})
