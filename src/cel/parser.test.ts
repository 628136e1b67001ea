import { expect, test } from 'vitest'
import { verifies } from '#test/support/verifies.ts'
import { MAX_CODE_POINTS, parse } from './parser.ts'
import { print } from './printer.ts'

/** Problems as `line:column message`. */
function problemsOf(source: string): string[] {
  return parse(source).problems.map(({ line, column, message }) => `${line}:${column} ${message}`)
}

verifies('scalar/cel-expression-language', 'expressions of the language parse', () => {
  for (const source of [
    'a.b[1] == "x" ? -1 : 2u',
    '[1, 2].all(x, x > 0)',
    "{'k': b'\\x01', true: 1.5e3}",
    'has(a.b) && !c || d in e',
  ]) {
    expect(problemsOf(source)).toEqual([])
  }
})

test.each([
  // source, problems
  ['', ['1:1 expression is empty']],
  ['  // only a comment', ['1:20 expression is empty']],
  ['1 +', ['1:4 unexpected end of the expression']],
  ['a == ) && (b ||)', ['1:6 unexpected ")"']],
  ['(a == ) && (b ||)', ['1:7 unexpected ")"', '1:17 unexpected ")"']],
  ['foo(1, , 2) + [3, 4', ['1:8 unexpected ","', '1:20 expected ] to close [, found the end']],
  ['a["x"', ['1:6 expected ] to close [, found the end']],
  ['{1: 2, 3}', ['1:9 expected : after the key, found "}"']],
  ['(a b (c)) d', ['1:4 expected ) to close (, found "b"', '1:11 unexpected "d" after the expression']],
  ['f(a b (c] d) e', ['1:5 expected ) to close (, found "b"', '1:14 unexpected "e" after the expression']],
  ['a ? b', ['1:6 expected : after the ? branch, found the end']],
  ['a b', ['1:3 unexpected "b" after the expression']],
  ['a.in', ['1:3 in cannot be a member name; quote it: `in`']],
  ['a.1', ['1:2 unexpected ".1" after the expression']],
  ['for', ['1:1 for is a reserved word']],
  ['f(1,)', ['1:5 expected an argument after the comma, found )']],
  ['"abc', ['1:1 string is not closed']],
  ['x."abc', ['1:3 string is not closed', '1:3 expected a name after the dot, found a string']],
  ['"\\q" + "\\ud800"', ['1:2 unknown escape "\\\\q"', '1:9 not a Unicode code point: \\ud800']],
  ['12abc', ['1:1 not a number: 12abc']],
  ['9223372036854775808', ['1:1 int literal is out of range']],
  ['-9223372036854775809', ['1:2 int literal is out of range']],
  ['18446744073709551616u', ['1:1 uint literal is out of range']],
  ['1e999', ['1:1 double literal is out of range']],
  ['1 $ 2', ['1:3 unexpected character "$"', '1:5 unexpected "2" after the expression']],
  ['has(a)', ['1:5 has() takes a member selection, such as has(a.b)']],
  ['has(a["b"])', ['1:1 has() takes a member selection, such as has(a.b)']],
  ['has(a.b, c)', ['1:1 has() takes one member selection, such as has(a.b)']],
  ['x.map(1, 2)', ['1:7 expected a plain variable name here']],
  ['x.all(i, i, true)', ['1:10 the two variables of all() need different names']],
  ['has(x.all(i, i, true))', ['1:14 the two variables of all() need different names']],
  ['cel.index(a)', ['1:1 cel.index() takes whole numbers']],
  ['cel.index("a")', ['1:1 cel.index() takes whole numbers']],
  ['x.all(__result__, true)', ['1:7 __result__ is a reserved name']],
])('problems of %j', (source, expected) => {
  expect(problemsOf(source)).toEqual(expected)
  expect(parse(source).expr).toBeUndefined()
})

test('a problem shows its source line and position', () => {
  const [problem] = parse('a &&\n\t"é" == = b').problems
  expect(problem).toMatchObject({ line: 2, column: 9, start: 13, end: 14, code: 'syntax', severity: 'error' })
  expect(problem!.caret).toBe('\t"é" == = b\n\t       ^')
})

test.each([
  ['a & b', '&&'],
  ['a and b', '&&'],
  ['a or b', '||'],
  ['a = b', '=='],
  ['"abc', '"abc"'],
  ['a.in', '`in`'],
])('%j suggests %j', (source, suggestion) => {
  expect(parse(source).problems[0]!.suggestion).toBe(suggestion)
})

verifies('scalar/cel-expression-length', 'an expression has at most 16384 characters', () => {
  expect(problemsOf(`"${'ü'.repeat(MAX_CODE_POINTS - 2)}"`)).toEqual([])
  expect(problemsOf(`"${'😀'.repeat(MAX_CODE_POINTS - 2)}"`)).toEqual([])
  expect(problemsOf(`"${'x'.repeat(MAX_CODE_POINTS - 1)}"`)).toEqual(['1:1 expression is longer than 16384 characters'])
  expect(parse('x'.repeat(MAX_CODE_POINTS + 1)).problems.map(({ code }) => code)).toEqual(['too-long'])
})

const LONG = 8000

test.each([
  ['brackets', '('.repeat(LONG) + ')'.repeat(LONG)],
  ['lists', '['.repeat(LONG) + ']'.repeat(LONG)],
  ['maps', '{1:'.repeat(LONG / 2)],
  ['sums', Array.from({ length: LONG }, () => '1').join('+')],
  ['selections', `a${'.b'.repeat(LONG)}`],
  ['indexes', `a${'[0]'.repeat(LONG / 2)}`],
  ['calls', `a${'.b()'.repeat(LONG / 2)}`],
  ['conditions', 'a?b:'.repeat(LONG / 2)],
  ['signs', '-!'.repeat(LONG)],
  ['macros', `a${'.map(x,x)'.repeat(1800)}`],
])('%s has a maximum depth', (_, source) => {
  expect(parse(source).problems.map((problem) => problem.code)).toContain('too-deep')
})

test('a name with a leading dot is a function, never a macro', () => {
  expect([parse('has(a.b)').expr?.kind, parse('.has(a.b)').expr?.kind]).toEqual(['has', 'call'])
})

test('chains of && and || may be long', () => {
  const source = Array.from({ length: 3000 }, () => 'a').join('||')
  expect(parse(source).problems).toEqual([])
})

test.each([`${'!'.repeat(LONG)}a`, `${'- '.repeat(LONG)}a`])('repeated signs do not count as nesting', (source) => {
  expect(parse(source).expr?.height).toBe(3)
})

test.each([
  // source; the same in canonical form
  ['a.b . c', 'a.b.c'],
  ["'it''s'".replace("''", "\\'"), '"it\'s"'],
  ['r"\\d"', '"\\\\d"'],
  ['"""a\n"b"""', '"a\\n\\"b"'],
  ['0x1F + -0x1f', '31 + -31'],
  ['1.0 + .5 + 1e3', '1.0 + 0.5 + 1000.0'],
  ['b"\\xff\\377é"', 'b"\\xff\\xff\\xc3\\xa9"'],
  ['((a || b)) && c', '(a || b) && c'],
  ['a || b || c', 'a || b || c'],
  ['a - (b - c) - d', 'a - (b - c) - d'],
  ['(a ? b : c) ? d : e ? f : g', '(a ? b : c) ? d : e ? f : g'],
  ['(a + b) * (c - d) / -(e + f)', '(a + b) * (c - d) / -(e + f)'],
  ['(a * b) + (c < d)', 'a * b + (c < d)'],
  ['(a == b && c) || (d)', 'a == b && c || d'],
  ['-(1)', '-(1)'],
  ['-("a") + -(b"\\xff") + -(true) + -(null)', '-"a" + -b"\\xff" + -true + -null'],
  ['("a").f(b"\\xff".f(), true.f(), null.f())', '"a".f(b"\\xff".f(), true.f(), null.f())'],
  ['(1u).f((1.5).f())', '(1u).f((1.5).f())'],
  ['- x', '-x'],
  ['.f(a) + .a.g()', '.f(a) + .a.g()'],
  ['!!a', '!!a'],
  ['!!!a', '!a'],
  ['(1).f()', '(1).f()'],
  ['-1.5', '-1.5'],
  ['a[?"k"].?b', 'a[?"k"].?b'],
  ['{?"a": b, c: [?d]}', '{?"a": b, c: [?d]}'],
  ['has(a.`b-c`)', 'has(a.`b-c`)'],
  ['has((a ? b : c).?d)', 'has((a ? b : c).?d)'],
  ['.a.B{c: 1, ?d: e}', '.a.B{c: 1, ?d: e}'],
  ['x.map(i, i > 0, i * 2)', 'x.map(i, i > 0, i * 2)'],
  ['x.transformMap(k, v, v)', 'x.transformMap(k, v, v)'],
  ['cel.bind(a, 1, a)', 'cel.bind(a, 1, a)'],
  ['(2 + 3).with(n, n)', '(2 + 3).with(n, n)'],
  ['cel.block([1, cel.index(0)], cel.index(1))', 'cel.block([1, cel.index(0)], cel.index(1))'],
  ['a in b == c', 'a in b == c'],
  ['a // comment\n + b', 'a + b'],
])('%s prints as %s', (source, printed) => {
  const { expr, problems } = parse(source)
  expect(problems).toEqual([])
  expect(print(expr!)).toBe(printed)
  expect(print(parse(printed).expr!)).toBe(printed)
})
