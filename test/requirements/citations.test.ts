import { expect, test } from 'vitest'
import { citationsOfCase, citationsOfPage, citationsOfTest } from './citations.ts'

const idsOf = (source: string) => citationsOfTest(source, 'a.test.ts', 'shape').citations.map((citation) => citation.id)

test.each([
  ['one id', "verifies('a/b', 'name', () => {})", ['a/b']],
  ['double quotes', 'verifies("a/b", "name", () => {})', ['a/b']],
  ['a list', "verifies(['a/b', 'c/d'], 'name', run)", ['a/b', 'c/d']],
  ['a wrapped list with a last comma', "verifies(\n  [\n    'a/b',\n    'c/d',\n  ],\n  'name', run)", ['a/b', 'c/d']],
  ['a comment inside', "verifies(/* why */ 'a/b', // here\n 'name', run)", ['a/b']],
  ['several calls', "verifies('a/b', 'n', run)\nverifies('c/d', 'n', run)", ['a/b', 'c/d']],
  ['a call in a template', `\`\${verifies('a/b', 'n', run)}\``, ['a/b']],
  [
    'after a template with braces',
    `const t = \`\${{ a: { b: 1 } }} verifies('x/y', \`\nverifies('a/b', 'n', run)`,
    ['a/b'],
  ],
  ['after a regular expression with quotes', "const r = /['\"`/[/]]\\//g\nverifies('a/b', 'n', run)", ['a/b']],
  ['after a division', "const r = a / 2 / b; verifies('a/b', 'n', run)", ['a/b']],
  ['after an escaped quote', "const s = 'it\\'s'; verifies('a/b', 'n', run)", ['a/b']],
  ['the import', "import { verifies } from './verifies.ts'", []],
  ['the declaration', "export function verifies(ids: 'a/b', name: string) {}", []],
  ['a method of that name', "claim.verifies('a/b', key)", []],
  ['a line comment', "// verifies('a/b', 'n', run)", []],
  ['a block comment', "/* verifies('a/b', 'n', run) */", []],
  ['a string', 'const s = "verifies(\'a/b\', 1)"', []],
  ['a template', `const s = \`verifies('a/b', 1) \\\` \${1} verifies('c/d', 1)\``, []],
])('ids of a test: %s', (_, source, ids) => {
  expect(idsOf(source)).toEqual(ids)
})

test.each([
  ['a variable', 'verifies(id, name, run)'],
  ['a template', 'verifies(`a/b`, name, run)'],
  ['a sum', "verifies('a/' + what, name, run)"],
  ['a list with a variable', "verifies(['a/b', id], name, run)"],
  ['a spread', 'verifies([...ids], name, run)'],
  ['an empty list', 'verifies([], name, run)'],
  ['nothing', 'verifies()'],
])('ids that cannot be read: %s', (_, source) => {
  expect(citationsOfTest(`\n${source}`, 'a.test.ts', 'shape')).toEqual({
    citations: [],
    unreadable: [{ file: 'a.test.ts', line: 2, message: 'verifies takes its ids as literals' }],
  })
})

test('a citation knows its line', () => {
  const source = "const t = `\n\n`\n/*\n*/ verifies([\n'a/b',\n'c/d'], 'n', run)"
  expect(citationsOfTest(source, 'a.test.ts', 'shape').citations).toEqual([
    { id: 'a/b', proves: 'shape', file: 'a.test.ts', line: 6 },
    { id: 'c/d', proves: 'shape', file: 'a.test.ts', line: 7 },
  ])
})

test.each([
  ['none', 'given: []\n', []],
  ['flow', 'verifies: [a/b, c/d]\ngiven: []\n', ['a/b', 'c/d']],
  ['block', '# case\nverifies:\n  - a/b\n', ['a/b']],
  ['several documents', 'verifies: [a/b]\n---\nverifies: [c/d]\n---\ngiven: []\n', ['a/b', 'c/d']],
  ['deeper down', 'given:\n  verifies: [a/b]\n', []],
])('ids of a case: %s', (_, text, ids) => {
  const scan = citationsOfCase(text, 'cases/a.yaml')
  expect(scan.citations).toEqual(ids.map((id) => expect.objectContaining({ id, proves: 'behaviour' })))
  expect(scan.unreadable).toEqual([])
})

test.each([
  ['a single id', 'given: []\nverifies: a/b\n'],
  ['numbers', 'given: []\nverifies: [1]\n'],
  ['broken YAML', 'given: []\nverifies: [a/b\n'],
])('ids of a case that cannot be read: %s', (_, text) => {
  expect(citationsOfCase(text, 'cases/a.yaml')).toEqual({
    citations: [],
    unreadable: [{ file: 'cases/a.yaml', line: 2, message: 'verifies is a list of ids' }],
  })
})

test.each([
  ['none', 'Text.\n', []],
  ['one', 'Text.\n<!-- verifies: a/b -->\nAdvice.\n', ['a/b 2']],
  ['several, in lines', '<!-- verifies: a/b,\n  c/d -->\nAdvice.\n', ['a/b 1', 'c/d 1']],
  ['another comment', '<!-- to do: a/b -->\n', []],
])('ids of a page: %s', (_, text, found) => {
  const { citations, unreadable } = citationsOfPage(text, 'page.md')
  expect(citations.map(({ id, proves, line }) => `${id} ${line} ${proves}`)).toEqual(found.map((it) => `${it} advice`))
  expect(unreadable).toEqual([])
})

test.each(['<!-- verifies -->', '<!-- verifies: -->', '<!-- verifies: a/b c/d -->'])('not a list: %s', (comment) => {
  expect(citationsOfPage(`\n${comment}`, 'page.md')).toEqual({
    citations: [],
    unreadable: [{ file: 'page.md', line: 2, message: 'verifies is a list of ids: <!-- verifies: id, id -->' }],
  })
})
