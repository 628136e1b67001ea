import { expect, test } from 'vitest'
import { compareWithTests } from './coverage.ts'
import { markCited } from './mark-cited.ts'
import { formatEntries, formatTable } from './report.ts'
import { gap, requirement } from './requirement.ts'

const MANIFEST = {
  'a/proved': requirement(1, '2.1', 'Proved.'),
  'a/unproved': requirement(1, '2.1', 'Not proved.'),
  'b/gap': gap(1, '2.2', 'Known to be missing.'),
  'c/proved-gap': gap(2, '3', 'Proved meanwhile.'),
}
const CITED = new Set(['a/proved', 'c/proved-gap', 'd/unknown'])

test('manifest and tests are compared both ways', () => {
  const citations = [...CITED].map((id) => ({ id, file: 'a.test.ts', line: 1 }))
  expect(compareWithTests(MANIFEST, citations)).toEqual({
    unknown: [{ id: 'd/unknown', file: 'a.test.ts', line: 1 }],
    unproved: ['a/unproved'],
    provedGaps: ['c/proved-gap'],
  })
})

test('the table counts each entry once', () => {
  const cells = formatTable(MANIFEST, CITED)
    .split('\n')
    .map((line) => line.trim().split(/\s+/).join(' '))
  expect(cells).toEqual([
    'Document 1',
    'section proved gaps unproved total',
    '2.1 1 0 1 2',
    '2.2 0 1 0 1',
    'all 1 1 1 3',
    '',
    'Document 2',
    'section proved gaps unproved total',
    '3 1 0 0 1',
    'all 1 0 0 1',
    '',
    'Both documents',
    'section proved gaps unproved total',
    'all 2 1 1 4',
  ])
})

test('entries are listed with place and text', () => {
  expect(formatEntries(MANIFEST, (_, entry) => entry.section === '2.2')).toBe('b/gap (1: 2.2) Known to be missing.')
})

test('entries are marked by what is cited', () => {
  const before = `import { gap, type Requirement } from './requirement.ts'

export const DOCUMENT = {
  'a/b': gap(1, '2', 'Text with gap(.'),
  'c/d': gap(
    1,
    '2',
    'Longer text.',
  ),
  'e/f': gap(1, '2', 'Not cited.'),
}
`
  const proved = markCited(before, new Set(['a/b', 'c/d']))
  expect(proved.proved).toEqual(['a/b', 'c/d'])
  expect(proved.gaps).toEqual([])
  expect(proved.source).toBe(
    before
      .replace('type Requirement }', 'type Requirement, requirement }')
      .replace("'a/b': gap(", "'a/b': requirement(")
      .replace("'c/d': gap(", "'c/d': requirement("),
  )
  expect(markCited(proved.source, new Set())).toEqual({ source: before, proved: [], gaps: ['a/b', 'c/d'] })
  expect(markCited(before, new Set(['a/b', 'c/d', 'e/f'])).source).toContain('import { type Requirement, requirement }')
})
