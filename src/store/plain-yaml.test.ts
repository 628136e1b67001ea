import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LineCounter, parseAllDocuments } from 'yaml'
import { readPlainYaml } from './plain-yaml.ts'
import { splitDocuments } from './yaml-pieces.ts'

const read = (text: string) => readPlainYaml(text, new Map())

/** What the YAML library makes of a text; undefined when that is not one faultless document. */
function readByLibrary(text: string) {
  const lineCounter = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter, merge: true, prettyErrors: false })
  const [document] = documents
  if (documents.length !== 1 || document === undefined || document.errors.length > 0) return undefined
  if (document.contents === null) return undefined
  return { value: document.toJS() as unknown, line: lineCounter.linePos(document.contents.range![0]).line }
}

test.each([
  ['a: 1\nb: -5\nc: 0\n', { a: 1, b: -5, c: 0 }],
  ['---\na: text # comment\n# another\nb: 10.1.2.3\n', { a: 'text', b: '10.1.2.3' }],
  ["a:\n  b: [x, \"y, z\", 'it''s', [], {}]\n", { a: { b: ['x', 'y, z', "it's", [], {}] } }],
  ['a: {b: {"c d": 1}, e: [true, null]} # x\n', { a: { b: { 'c d': 1 }, e: [true, null] } }],
  ['- a: 1\n  b:\n  - 2\n  - c: 3\n-\n  - x\n- - y\n', [{ a: 1, b: [2, { c: 3 }] }, ['x'], ['y']]],
  ['a:\nb:\n- x\nc:\n', { a: null, b: ['x'], c: null }],
  ['a: |\n  one\n\n   two\nb: |-\n  # three\n', { a: 'one\n\n two\n', b: '# three' }],
  ['{"a": "\\u00e9\\n"}', { a: 'é\n' }],
  ['a: no\nb: 10s\nc: 1.5.2\nd: http://x/y?z=a:b#c\n', { a: 'no', b: '10s', c: '1.5.2', d: 'http://x/y?z=a:b#c' }],
])('plain: %j', (text, value) => {
  expect(read(text)).toEqual(readByLibrary(text))
  expect(read(text)?.value).toEqual(value)
})

test.each([
  ['', '# nothing\n', '---\n', '--- a: 1\n', '%YAML 1.2\n---\na: 1\n', 'a: 1\n...\n', 'a: 1\n---\nb: 2\n'],
  ['...\n', '---\n...\n', '# c\n... # d\n'],
  ['a: &x 1\n', 'a: *x\n', 'a: !!str 1\n', '<<: {a: 1}\n', '? a\n: b\n', 'true: 1\n', '1: 2\n', '__proto__: 1\n'],
  ['a: 1\na: 2\n', 'a: {b: 1, b: 2}\n', 'a: 1\n  b: 2\n', ' a: 1\nb: 2\n', 'a: b: c\n', 'a: b:\n', '- a\nb\n'],
  [
    'a: one\n  two\n',
    'a: "one\n  two"\n',
    'a: [1,\n  2]\n',
    'a: [1, ]\n',
    'a: [b {c: 1}]\n',
    'a: {b}\n',
    'a: [b: c]\n',
  ],
  ['a: >\n  x\n', 'a: |2\n  x\n', 'a: |+\n  x\n', 'a: |\n  x', 'a: |\n', 'a: |\n  x\n    \n', 'a: |\n    x\n  y\n'],
  [
    'a:\tb\n',
    'a: b\r\n',
    'a: é\n',
    '\ufeffa: b\n',
    'a: "\\x41"\n',
    'a: @b\n',
    'a: 1.5\n',
    'a: 0x1\n',
    'a: +1\n',
    'a: ~\n',
  ],
])('left to the library: %j ...', (...texts) => {
  for (const text of texts) expect(read(text), JSON.stringify(text)).toBeUndefined()
})

test('deep texts are left to the library', () => {
  for (const text of ['['.repeat(100_000), '- '.repeat(100_000), 'a: {'.repeat(1000)])
    expect(read(text)).toBeUndefined()
})

test('equal texts are read as one', () => {
  const shared = new Map<string, string>()
  readPlainYaml('a: some text\n', shared)
  expect([...shared.keys()]).toEqual(['a', 'some text'])
})

const EXAMPLES = join(import.meta.dirname, '../../examples')

test('reads most documents of the examples like the library', () => {
  const files = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'))
  const texts = files.flatMap((file) =>
    splitDocuments(readFileSync(join(EXAMPLES, file), 'utf8')).map(({ text }) => text),
  )
  const plain = texts.filter((text) => read(text) !== undefined)
  for (const text of plain) expect(read(text)).toEqual(readByLibrary(text))
  expect(texts.length).toBeGreaterThan(40)
  expect(plain.length / texts.length).toBeGreaterThan(0.6)
})

/** Pieces that mean something to YAML, common ones more often. */
const PIECES = [
  ...[
    'a',
    'b-c',
    'd.e/f',
    'text',
    '1',
    '-2',
    '0',
    '1.5',
    'true',
    'null',
    'x y',
    '10s',
    '::',
    'é',
    '~',
    '\t',
    '---',
    '...',
  ],
  ...[
    '"q"',
    "'s'",
    '"\\n"',
    "'it''s'",
    '"open',
    "'",
    '[]',
    '{}',
    '[a, b]',
    '{a: 1}',
    '{a: [b, {c: d}]}',
    '[',
    ']',
    '{',
    '}',
  ],
  ...[
    ', ',
    ',',
    '|',
    '|-',
    '>',
    '&x',
    '*x',
    '!t',
    '? ',
    '<<',
    '#',
    ' # c',
    '@',
    '%',
    '`',
    '-',
    '- ',
    '- - ',
    '=',
    '+1',
    '.',
    '.5',
  ],
]

/** A generator of numbers below a bound that are always the same. */
function numbers(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

test('random texts that it reads have the same result in the library', () => {
  const below = numbers(7)
  const piece = () => PIECES[below(PIECES.length)]!
  const key = () => `${'abcde'[below(5)]}:`
  const line = () => {
    const indent = ' '.repeat(below(4))
    const what = below(8)
    if (what === 0) return ''
    if (what === 1) return `${indent}${key()}`
    if (what === 2) return `${indent}- ${key()} ${piece()}`
    if (what === 3) return `${indent}- ${piece()}`
    if (what === 4) return `${indent}${piece()}${piece()}${' '.repeat(below(2))}`
    return `${indent}${key()} ${piece()}${below(4) === 0 ? piece() : ''}`
  }
  let plain = 0
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 1 + below(4) }, line).join('\n') + (below(8) === 0 ? '' : '\n')
    const found = read(text)
    if (found === undefined) continue
    plain++
    expect(found, JSON.stringify(text)).toEqual(readByLibrary(text))
  }
  expect(plain).toBeGreaterThan(2000)
})
