import { expect, test } from 'vitest'
import type { ConfigProblem } from '#base/config-problem.ts'
import { reportImpossibleMatches } from './report-never-matched.ts'

type Match = Parameters<typeof reportImpossibleMatches>[0][number]

function findingsOf(match: Partial<Match>): readonly string[] {
  const found: Omit<ConfigProblem, never>[] = []
  const path = { type: 'PathPrefix', value: '/' } as const
  reportImpossibleMatches([{ path, ...match }], 'spec.rules[0]', (problem) => void found.push(problem))
  return found.map(
    ({ path: at, code, severity }) => `${severity} ${code} ${at.replace('spec.rules[0].matches[0].', '')}`,
  )
}

const path = (type: 'Exact' | 'PathPrefix' | 'RegularExpression', value: string) => ({ path: { type, value } })
const headers = (...list: readonly [name: string, value: string][]) => ({
  headers: list.map(([name, value]) => ({ name, value, type: 'Exact' as const })),
})

test.each<[match: Partial<Match>, found: readonly string[]]>([
  [path('RegularExpression', 'shop/.*'), ['warning match-impossible path.value']],
  [path('RegularExpression', '^shop'), ['warning match-impossible path.value']],
  [headers(['x', ' a']), ['warning match-impossible headers[0].value']],
  [headers(['x', 'a\u0000']), ['warning match-impossible headers[0].value']],
  [headers(['x', 'a'], ['X', 'b']), ['warning no-effect headers[1]']],
  [path('Exact', '/a%20b'), []],
  [path('RegularExpression', '/shop/.*'), []],
  [path('RegularExpression', 'a?/shop'), []],
  [path('RegularExpression', 'a*/shop'), []],
  [path('RegularExpression', 'shop|/shop'), []],
  [path('RegularExpression', '.*shop'), []],
  [headers(['x', 'a'], ['y', 'b']), []],
])('%j: %j', (match, found) => {
  expect(findingsOf(match)).toEqual(found)
})
