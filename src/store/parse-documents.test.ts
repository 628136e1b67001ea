import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { sampleSize } from '#test/support/sample-size.ts'
import { parseDocuments } from './parse-documents.ts'

test.each([
  'a: 1\nb: 2\n',
  'a: 1\na: 2\n',
  'a: 1\n"a": 2\n',
  '1: a\n"1": b\n',
  '1: a\n1.0: b\n',
  '{a: 1, b: {c: 1, c: 2}, b: 3}',
  'a: {b: 1, b: 2}\na: 3\n',
  '? a\n: 1\n? !!str a\n: 2\n',
  '&x a: 1\n*x : 2\n',
  'base: &b {k: 1}\nown: {<<: *b, <<: *b, k: 2}\n',
  '[a]: 1\n[a]: 2\n',
  'null: 1\n~: 2\n',
  'a: 1\n---\na: 1\na: [\n',
  'a: [\nb: 1\nb: 2\n',
])('%j has the errors that the library finds', (text) => {
  const options = { merge: true, prettyErrors: false }
  const first = (documents: readonly { readonly errors: readonly { code: string; pos: readonly number[] }[] }[]) =>
    documents.map(({ errors: [error] }) => error && [error.code, error.pos[0]])
  expect(first(parseDocuments(text, options))).toEqual(first(parseAllDocuments(text, options) as never))
})

test('a map may have a hundred thousand keys', { timeout: 60_000 }, () => {
  const text = Array.from({ length: sampleSize(20_000, 100_000) }, (_, i) => `key-${i}: x`).join('\n')
  expect(parseDocuments(text)[0]!.errors).toEqual([])
  expect(parseDocuments(`${text}\nkey-7: x\n`)[0]!.errors).toMatchObject([
    { code: 'DUPLICATE_KEY', pos: [text.length + 1, text.length + 2] },
  ])
})

const ONES = `[${'1,'.repeat(20_000)}]`

test.each([
  ['a: &a [*a, *a]\n', 'BAD_ALIAS', 7],
  ['a: &a\n  b: {c: *a}\n', 'BAD_ALIAS', 15],
  ['&a x: {*a : 1}\n', undefined, 0],
  ['a: &a {b: 1}\nc: &a [*a]\n', 'BAD_ALIAS', 20],
  ['a: &a [1, 2]\nb: [*a, *a]\nc: *a\n', undefined, 0],
  [`a: &a ${ONES}\nb: [${'*a,'.repeat(40)}]\n`, undefined, 0],
  [`a: &a ${ONES}\nb: [${'*a,'.repeat(60)}]\n`, 'RESOURCE_EXHAUSTION', 40_013 + 49 * 3],
  [`a: &a ${ONES}\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\n`, 'RESOURCE_EXHAUSTION', undefined],
])('aliases that make a value endless or huge are errors (%#)', (text, code, at) => {
  const [error] = parseDocuments(text)[0]!.errors
  expect(error?.code).toBe(code)
  if (at !== undefined) expect(error?.pos[0] ?? 0).toBe(at)
})
