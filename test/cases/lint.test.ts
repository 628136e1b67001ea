import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findingLines } from '#cli/finding-lines.ts'
import { advise } from '#cli/lint/advise.ts'
import { loadPlan } from '#cli/load-plan.ts'
import { FileStore } from '#store/files.ts'
import { verifies } from '#test/support/verifies.ts'
import { isUpdate } from './golden-case.ts'

const FILE = 'test/cases/lint/ten-mistakes.yaml'
const GOLDEN = 'test/cases/lint/ten-mistakes.txt'

function linted(file = FILE, advice = false) {
  const store = new FileStore([file])
  const { items, findings } = loadPlan(store)
  return findingLines(store, [...findings, ...(advice ? advise(items, store.list()) : [])], { advice })
}

verifies('scalar/cel-expression-language', 'ten mistakes, as `gatewright lint` prints them', () => {
  const text = `${linted().lines.join('\n')}\n`
  if (isUpdate) writeFileSync(GOLDEN, text)
  expect(text).toBe(readFileSync(GOLDEN, 'utf8'))
})

test('each has its file, line and column, and shows the expression with a caret under it', () => {
  const { lines, errors, warnings } = linted()
  expect([lines.length, errors, warnings]).toEqual([10, 7, 3])
  for (const line of lines) {
    const [first = '', source, caret, ...more] = line.split('\n')
    expect(first).toMatch(/^test\/cases\/lint\/ten-mistakes\.yaml:\d+:\d+: (error|warning): spec\..* \[[a-z-]+\]$/)
    expect(readFileSync(FILE, 'utf8')).toContain(source!.trim())
    expect(caret).toMatch(/^ +\^$/)
    expect(more).toEqual([])
  }
})

test.each([
  ['rules that a caller can flip', 'test/cases/lint/client-fields.yaml', 2],
  ['credentials in objects', 'test/cases/lint/credentials.yaml', 3],
])('%s, as `gatewright lint -v` prints them', (_, file, number) => {
  const golden = file.replace('.yaml', '.txt')
  expect(linted(file).lines).toEqual([])
  const { lines, errors, warnings, advised } = linted(file, true)
  expect([errors, warnings, advised]).toEqual([0, 0, number])
  const text = `${lines.join('\n')}\n`
  if (isUpdate) writeFileSync(golden, text)
  expect(text).toBe(readFileSync(golden, 'utf8'))
})

test.each([
  ['names from other gateways, and names that are almost right', 'test/cases/lint/other-names.yaml'],
  ['mistakes of agent runtimes', 'test/cases/lint/agent-runtimes.yaml'],
  ['each error once, not again at what refers to its object', 'test/cases/lint/refused-objects.yaml'],
])('%s, as `gatewright lint` prints them', (_, file) => {
  const golden = file.replace('.yaml', '.txt')
  const text = `${linted(file).lines.join('\n')}\n`
  if (isUpdate) writeFileSync(golden, text)
  expect(text).toBe(readFileSync(golden, 'utf8'))
})
