import { expect, test } from 'vitest'
import { DOCUMENT_1 } from './document-1.ts'
import { DOCUMENT_2 } from './document-2.ts'
import type { Requirement } from './requirement.ts'

test.each<[number, Readonly<Record<string, Requirement>>, string]>([
  [
    1,
    DOCUMENT_1,
    '1 2.1 2.2 2.3 2.3.1 2.3.2 2.3.3 2.3.4 2.4 2.5 2.6 3 4.1 4.2 4.3 4.4 5.1 5.2 5.3 5.4 5.5 5.6 5.7 5.8 7 9',
  ],
  [2, DOCUMENT_2, '2 2.1 2.2 2.2.1 2.2.2 2.2.3 2.2.4 2.2.5 2.2.6 2.2.7 2.2.8 2.3 2.4 2.5 2.6'],
])('the statements of document %i, in the order of its sections', (document, statements, sections) => {
  const all = Object.values(statements)
  expect(new Set(all.map((each) => each.document))).toEqual(new Set([document]))
  const inOrder = all.map(({ section }) => section).filter((section, at) => section !== all[at - 1]?.section)
  expect(inOrder.join(' ')).toBe(sections)
})
