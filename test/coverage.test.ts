import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { DOCUMENT_1 } from '#api/requirements/document-1.ts'
import { DOCUMENT_2 } from '#api/requirements/document-2.ts'
import { REQUIREMENTS } from '#api/requirements/requirements.ts'
import { type Citation, scanCitations } from './requirements/citations.ts'
import { compareWithCitations } from './requirements/coverage.ts'
import { fieldOfDefault, isDefaultRead } from './requirements/default-readers.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { citations, unreadable } = scanCitations(ROOT)
const { unknown, unproved, onlyShaped, citedGaps, misplaced } = compareWithCitations(REQUIREMENTS, citations)

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
  expect(found, 'correct the id, or state the requirement in src/api/requirements/document-1.ts or -2.ts').toEqual([])
})

test('no behaviour is proved by tests of schemas alone', () => {
  expect(onlyShaped.map(placesOf), 'cite it in a test that runs the code, or mark the entry as a gap').toEqual([])
})

test('every entry that is not a gap is proved', () => {
  expect(unproved, 'cite the id where it is proved, or mark the entry as a gap').toEqual([])
})

test('no gap is cited', () => {
  const found = citedGaps.map(placesOf)
  expect(found, 'if these are proved, run `npm run requirements -- --update`; if not, do not cite them').toEqual([])
})

test('pages prove advice and nothing else does', () => {
  const found = misplaced.map((citation: Citation) => `${citation.id} (${placeOf(citation)})`)
  expect(found, 'tests cite shape and behaviour, pages of docs/ cite advice').toEqual([])
})

test('every default that is proved is of a field that code outside of schemas reads', () => {
  const defaults = Object.entries(REQUIREMENTS).filter(([id, { gap }]) => !gap && fieldOfDefault(id) !== undefined)
  const unread = defaults.filter(([id]) => !isDefaultRead(ROOT, id)).map(([id]) => id)
  expect(
    unread,
    'mark these as gaps; an id of a default is <field>-default; default-readers.ts knows the folders',
  ).toEqual([])
})

test('a default is behaviour: nothing is valid or invalid by it', () => {
  const found = Object.entries(REQUIREMENTS).filter(([id, { kind }]) => fieldOfDefault(id) && kind !== 'behaviour')
  expect(found.map(([id]) => id)).toEqual([])
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
