import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { advice, behaviour, type RequirementKind, shape } from '#api/requirements/requirement.ts'
import { compareWithCitations, provedIds } from './coverage.ts'
import { fieldOfDefault, isDefaultRead, membersRead } from './default-readers.ts'
import { markProved } from './mark-proved.ts'
import { Proofs } from './proof.ts'
import { formatEntries, formatTable } from './report.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const MANIFEST = {
  'a/proved': shape(1, '2.1', 'Proved.'),
  'a/unproved': shape(1, '2.1', 'Not proved.'),
  'a/only-shaped': behaviour(1, '2.1', 'Proved by a schema.'),
  'b/gap': behaviour.gap(1, '2.2', 'Known to be missing.'),
  'b/advice': advice(1, '2.2', 'Told to readers.'),
  'c/cited-gap': behaviour.gap(2, '3', 'Proved meanwhile.'),
}

const cite = (proves: RequirementKind, id: string) => ({ id, proves, file: 'a', line: 1 })
const CITATIONS = [
  cite('behaviour', 'a/proved'),
  cite('shape', 'a/only-shaped'),
  cite('advice', 'b/advice'),
  cite('behaviour', 'b/advice'),
  cite('advice', 'a/proved'),
  cite('behaviour', 'c/cited-gap'),
  cite('behaviour', 'd/unknown'),
]

test('manifest and citations are compared both ways', () => {
  expect(compareWithCitations(MANIFEST, CITATIONS)).toEqual({
    unknown: [cite('behaviour', 'd/unknown')],
    unproved: ['a/unproved', 'a/only-shaped'],
    onlyShaped: ['a/only-shaped'],
    citedGaps: ['c/cited-gap'],
    misplaced: [cite('behaviour', 'b/advice'), cite('advice', 'a/proved')],
  })
})

const PROVED = provedIds(MANIFEST, CITATIONS)

test('the tables count each entry once, by section and by kind', () => {
  const cells = formatTable(MANIFEST, PROVED)
    .split('\n')
    .map((line) => line.trim().split(/\s+/).join(' '))
  expect(cells).toEqual([
    'Document 1',
    'section proved gaps unproved total',
    '2.1 1 0 2 3',
    '2.2 1 1 0 2',
    'all 2 1 2 5',
    '',
    'Document 2',
    'section proved gaps unproved total',
    '3 1 0 0 1',
    'all 1 0 0 1',
    '',
    'Both documents',
    'kind proved gaps unproved total',
    'shape 1 0 1 2',
    'behaviour 1 1 1 3',
    'advice 1 0 0 1',
    'all 3 1 2 6',
  ])
})

test('entries are listed with kind, place and text', () => {
  const listed = formatEntries(MANIFEST, (_, entry) => entry.gap && entry.section === '2.2')
  expect(listed).toBe('b/gap behaviour (1: 2.2) Known to be missing.')
})

test('entries are marked by what is proved', () => {
  const before = `export const DOCUMENT = {
  'a/b': shape.gap(1, '2', 'Text with shape(.'),
  'c/d': behaviour.gap(
    1,
    '2',
    'Longer text.',
  ),
  'e/f': advice.gap(1, '2', 'Not cited.'),
}
`
  const marked = markProved(before, new Set(['a/b', 'c/d']))
  expect(marked).toEqual({
    source: before.replace("'a/b': shape.gap(", "'a/b': shape(").replace("'c/d': behaviour.gap(", "'c/d': behaviour("),
    proved: ['a/b', 'c/d'],
    gaps: [],
  })
  expect(markProved(marked.source, new Set())).toEqual({ source: before, proved: [], gaps: ['a/b', 'c/d'] })
})

test.each([
  ['src/api/traffic-fields.test.ts', 'shape'],
  ['src/api/ai-fields.test.ts', 'shape'], // imports schemas through test/support only
  ['src/schema/scalars.test.ts', 'shape'],
  ['src/policies/traffic/csrf/csrf.test.ts', 'behaviour'],
  ['test/scenarios/retries.test.ts', 'behaviour'],
  ['test/cases/translate/secrets.yaml', 'behaviour'],
  ['docs/behaviour/llm.md', 'advice'],
])('%s can prove: %s', (file, kind) => {
  expect(new Proofs(ROOT).of(file)).toBe(kind)
})

test.each([
  ['a/maxEntries-default', 'maxEntries'],
  ['a.b/path-default-sse', 'path'],
  ['a/default-hostname-backends', undefined],
  ['a/defaults', undefined],
])('the field of a default: %s', (id, field) => {
  expect(fieldOfDefault(id)).toBe(field)
})

test('members that a source reads: behind a dot, or taken apart', () => {
  const source = "const { a, b: c, d = 1 } = f.g; h('i', j); // k.l"
  expect([...membersRead(source)]).toEqual(['a', 'b', 'd', 'g'])
})

test('a default is read in the folders of its field, by more than schemas', () => {
  expect(isDefaultRead(ROOT, 'frontend.http/maxBufferSize-default')).toBe(true)
  expect(isDefaultRead(ROOT, 'frontend.http/cacheMessages-default')).toBe(false)
})
