import { expect, test } from 'vitest'
import { JsonPieces, writeJson } from '../json/write-json.ts'
import { isBlank, trimEnd } from './json-strings.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test.each<[json: string, blank: boolean]>([
  ['""', true],
  ['" "', true],
  [String.raw`" \n\t\r "`, true],
  ['"a"', false],
  [String.raw`" \\n"`, false],
  [String.raw`"\""`, false],
  ['"é"', false],
])('%s is blank: %s', (json, blank) => {
  expect(isBlank(bytes(json))).toBe(blank)
})

test('a string in pieces is blank if all of it is', () => {
  expect(isBlank(new JsonPieces(['"', bytes(' a'), '"']))).toBe(false)
  expect(isBlank(new JsonPieces(['"', bytes(String.raw` \n`), '"']))).toBe(true)
})

test.each<[json: string, trimmed: string]>([
  ['"a"', '"a"'],
  ['"a b "', '"a b"'],
  [String.raw`"a \n\t "`, '"a"'],
  [String.raw`"a\\n"`, String.raw`"a\\n"`],
  [String.raw`"a\\\n"`, String.raw`"a\\"`],
  [String.raw`"a\\ "`, String.raw`"a\\"`],
  ['" "', '""'],
  ['"n"', '"n"'],
])('%s without white space at its end is %s', (json, trimmed) => {
  expect(new TextDecoder().decode(writeJson(trimEnd(bytes(json))))).toBe(trimmed)
})
