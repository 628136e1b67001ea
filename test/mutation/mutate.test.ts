import { expect, test } from 'vitest'
import { applyMutant, mutantsOf } from './mutate.ts'

test.each<[source: string, mutants: readonly string[]]>([
  ['x = a < b', [';', 'x = a <= b', 'x = a >= b']],
  ['const x = a === b', ['const x = a !== b']],
  ['const x = a + 1', ['const x = a - 1', 'const x = a + (1 + 1)']],
  ["const x = a + 'b'", ["const x = a + ''"]],
  ['const x = a && b', ['const x = ((a) || (b))']],
  ['const x = (a ?? b) > c', ['const x = (((a) && (b))) > c', 'const x = (a ?? b) >= c', 'const x = (a ?? b) <= c']],
  ['const x = !a', ['const x = a']],
  ['const x = a?.b', ['const x = a.b']],
  ['const x = a?.[b]', ['const x = a[b]']],
  ['const x = a?.(b)', ['const x = a(b)']],
  ['const x = a ? b : c', ['const x = true ? b : c', 'const x = false ? b : c']],
  ['if (a) b()', ['if (true) b()', 'if (false) b()', 'if (a) ;']],
  ["if (a) throw new Error('b')", ["if (true) throw new Error('b')"]],
  ['while (a) i++', ['while (false) i++', 'while (a) ;', 'while (a) i--']],
  ['function f() { return a }', ['function f() { return undefined }']],
  [
    'function f() { if (a) return }',
    ['function f() { if (true) return }', 'function f() { if (false) return }', 'function f() { if (a) ; }'],
  ],
  ['const f = () => a', ['const f = () => undefined']],
  ['const x = true', ['const x = false']],
  ["const x = ''", ["const x = 'mutated'"]],
  ["const x: 'a' | 1 = a as 'b'", []],
  ["import { a } from 'b'", []],
  ["export { a } from 'b'", []],
  ['const { a } = { a: b }', []],
  ["type A = { b: 'c' }", []],
])('%s', (source, mutants) => {
  expect(mutantsOf(source).map((mutant) => applyMutant(source, mutant))).toEqual(mutants)
})

test('a mutant knows its line and what it replaces', () => {
  expect(mutantsOf('const a = 1\nconst b = c > d')[1]).toEqual({
    start: 24,
    end: 25,
    replacement: '>=',
    original: '>',
    line: 2,
  })
})
