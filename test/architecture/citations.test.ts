import { expect, test } from 'vitest'
import { decisionIds, missingDocuments, unknownDecisions } from './citations.ts'
import { findLines } from './project-texts.ts'
import { PRIVATE_NOTES } from './rules.ts'

const TABLE = '| Id | Decision |\n| --- | --- |\n| A-01 | see A-99 |\n| B102 | x |'

const decisions: readonly (readonly [text: string, unknown: readonly string[]])[] = [
  ['// decision A-01', []],
  ['// (decisions A-01, B102)', []],
  ['// decision A-' + '99', ['A-' + '99']],
  ['// as B' + '03 says.', ['B' + '03']],
  ['utf-8, SHA-256, RGBA-100, B1, %A9, 0xB102F', []],
]

for (const [text, unknown] of decisions) {
  test(`unknown decisions: ${text}`, () => {
    const found = unknownDecisions([{ path: 'a.ts', text }], decisionIds(TABLE))
    expect(found).toEqual(unknown.map((id) => `a.ts:1 cites decision ${id}`))
  })
}

/** Assembled, because this file would otherwise cite a missing document. */
const DOCS = 'docs'

const DOCUMENTS = [
  { path: `${DOCS}/decisions/0006-errors.md`, text: '# Errors' },
  { path: `${DOCS}/http.md`, text: '# HTTP\n\n## Response policies\n' },
]

const documents: readonly (readonly [text: string, missing: readonly string[]])[] = [
  [`see ${DOCS}/http.md, and ${DOCS}/decisions/, and \`${DOCS}/decisions/0006\``, []],
  [`(${DOCS}/http.md, "Response policies")`, []],
  [`\`${DOCS}/http.md\`, "HTTP"`, []],
  [`/**\n * See ${DOCS}/http.md, "Response\n * policies".\n */`, []],
  [`see ${DOCS}/tls.md`, [`${DOCS}/tls.md`]],
  [`see ${DOCS}/decisions/0007`, [`${DOCS}/decisions/0007`]],
  [`(${DOCS}/http.md, "Response")`, [`"Response" of ${DOCS}/http.md`]],
]

for (const [text, missing] of documents) {
  test(`documents that do not exist: ${text}`, () => {
    const found = missingDocuments([...DOCUMENTS, { path: 'a.ts', text }])
    expect(found).toEqual(missing.map((what) => `a.ts cites ${what}`))
  })
}

const notes: readonly (readonly [text: string, found: boolean])[] = [
  ['(data' + ' plane, 7.5)', true],
  ['(control' + ' plane reference, 2.2)', true],
  ['the order of data' + ' plane 2.5', true],
  ['(DESIGN' + ' 11)', true],
  ['(MC' + 'P, 2.1)', true],
  ['Waiting for the data plane: http', false],
  ['HTTP, LLM, MCP and A2A', false],
]

for (const [text, found] of notes) {
  test(`${found ? 'notes' : 'no notes'}: ${text}`, () => {
    expect(findLines([{ path: 'a.ts', text }], PRIVATE_NOTES)).toEqual(found ? [`a.ts:1 ${text}`] : [])
  })
}
