import { expect, test } from 'vitest'
import { reportExclusions } from './exclusions.ts'
import { parseInto } from './parser.ts'
import { ProblemList } from './source.ts'

function warningsOf(source: string): readonly string[] {
  const problems = new ProblemList(source)
  const expr = parseInto(source, problems)
  reportExclusions(expr, problems)
  return problems.problems.map(({ code, message, severity }) => `${severity} ${code}: ${message}`)
}

test.each([
  'a == "x" && a == "y"',
  '"x" == a && a == "y"',
  'a == "x" && b && a == "y"',
  'a == "x" && a != "x"',
  'a == "x" && a in ["y", "z"]',
  'a in ["x"] && a in ["y", "z"]',
  'a.b["c"] == 1 && a.b["c"] == 2',
  'a > 5 && a < 3',
  'a >= 5 && a <= 3',
  'a >= 5 && a < 5',
  '5 < a && 5 > a',
  'a == 1 && a > 1.5',
  'a < -1 && a > 0u',
  'a < - 1 && a > 0u',
  'size(a) > 1 && size(a) < 0',
  'a.startsWith("/x") && a.startsWith("/y")',
  'a.endsWith("x") && a == "y"',
  'c || (a == "x" && a == "y")',
  'list.exists(v, v == "x" && v == "y")',
  'a == true && a == false',
])('%s is never true', (source) => {
  expect(warningsOf(source)).toEqual([expect.stringMatching(/^warning never-true: .* never true/)])
})

test.each([
  'a == "x" || a == "y"',
  'a == "x" && b == "y"',
  'a in ["x", "y"] && a in ["y", "z"]',
  'a in ["x", "y"] && a != "x"',
  'a >= 5 && a <= 5',
  'a == 1 && a == 1.0',
  'a == 1 && a == 1u',
  'a.startsWith("/x") && a.startsWith("/x/y")',
  'a.startsWith("/x") && a == "/x/y"',
  'a.startsWith("x") && a.endsWith("y")',
  'random() < 0.5 && random() > 0.5',
  'list.exists(v, v == "x") && list.exists(v, v == "y")',
  'a == b && a == c',
  'a == 9007199254740993 && a != 9007199254740992',
  'a == "1" && a in [x, "2"]',
  'size(a) > 1 && size(a) < 3',
])('%s may be true', (source) => {
  expect(warningsOf(source)).toEqual([])
})

test('the message names both conditions, at the second', () => {
  expect(warningsOf('a == "x" && a == "y"')).toEqual([
    'warning never-true: a == "x" and a == "y" are never true together',
  ])
})
