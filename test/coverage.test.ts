import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Citation, scanCitations } from './requirements/citations.ts'
import { compareWithTests } from './requirements/coverage.ts'
import { DOCUMENT_1 } from './requirements/document-1.ts'
import { DOCUMENT_2 } from './requirements/document-2.ts'
import { REQUIREMENTS } from './requirements.ts'

const { citations, unreadable } = scanCitations(fileURLToPath(new URL('..', import.meta.url)))
const { unknown, unproved, provedGaps } = compareWithTests(REQUIREMENTS, citations)

function placeOf({ file, line }: { file: string; line: number }): string {
  return `${file}:${line}`
}

function placesOf(id: string): string {
  const places = citations.filter((citation) => citation.id === id).map(placeOf)
  return `${id} (${[...new Set(places)].join(', ')})`
}

test('every citation can be read from the source text', () => {
  const found = unreadable.map((place) => `${placeOf(place)} ${place.message}`)
  expect(found, 'write the ids as string literals, alone or in an array literal').toEqual([])
})

test('every cited id is in the manifest', () => {
  const found = unknown.map((citation: Citation) => `${citation.id} (${placeOf(citation)})`)
  expect(found, 'correct the id, or state the requirement in test/requirements/document-1.ts or -2.ts').toEqual([])
})

test('every entry that is not a gap is cited', () => {
  expect(unproved, 'write a test that cites the id, or mark the entry gap(...)').toEqual([])
})

test('no gap is cited', () => {
  const found = provedGaps.map(placesOf)
  expect(found, 'these are proved: run `npm run requirements -- --update`').toEqual([])
})

test('no id is in both documents', () => {
  expect(Object.keys(DOCUMENT_1).filter((id) => Object.hasOwn(DOCUMENT_2, id))).toEqual([])
})

test('no statement is made twice', () => {
  const seen = new Map<string, string>()
  const twice = Object.entries(REQUIREMENTS).filter(([id, { document, section, text }]) => {
    const key = `${id.slice(0, id.indexOf('/'))} ${document} ${section} ${text}`
    const known = seen.has(key)
    seen.set(key, id)
    return known
  })
  expect(twice.map(([id]) => id)).toEqual([])
})

test('every id is an area and a name', () => {
  const form = /^[A-Za-z][A-Za-z0-9.]*\/[A-Za-z0-9][A-Za-z0-9.-]*$/
  expect(Object.keys(REQUIREMENTS).filter((id) => !form.test(id))).toEqual([])
})
