import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { describeSizeFault, findClass, readProgram } from './program.ts'

test.each([
  ['abc', 3, 'abc'],
  ['a{2,5}', 5, 'aa'],
  ['\\bfoo\\b|fox', 3, ''],
  ['\\bsk-[a-z]{4}', 7, 'sk-'],
  ['(a)(?:b)c?', 3, 'ab'],
  ['[éa]😀', 6, ''],
  ['(?i)k', 3, ''],
  ['.?', 4, ''],
  ['a*', Number.POSITIVE_INFINITY, ''],
  ['ab+', Number.POSITIVE_INFINITY, 'ab'],
])('%s matches at most %d bytes and begins with %j', (source, maxBytes, prefix) => {
  expect(readProgram(RE2JS.compile(source))).toMatchObject({ maxBytes, prefix })
})

test('code points that no part of a pattern tells apart share a class', () => {
  const program = readProgram(RE2JS.compile('(?i)[a-z]+|\\pL'))
  expect(program.classCount).toBe(3)
  const classes = [...'az\u212a'].map((character) => findClass(program, character.codePointAt(0)!))
  expect(new Set(classes).size).toBe(1)
  expect(findClass(program, 0x10ffff)).toBe(program.latin[0x20])
})

test('a pattern of more than 10,000 states is refused', () => {
  const states = (count: number) => describeSizeFault(RE2JS.compile('a{998}'.repeat(count)))
  expect(states(10)).toBeUndefined()
  expect(states(11)).toMatch(/^compiles to 1\d{4} states; at most 10000 are allowed/)
})
