import { expect, test } from 'vitest'
import { TextInput } from './text-input.ts'

function read(pieces: readonly string[]): string {
  const input = new TextInput()
  return pieces.map((piece) => input.read(piece)).join('') + input.end()
}

test.each([
  ['{"input":"ls"}', 'ls'],
  [' {\n"input" : "a\\"b\\\\\\n\\u00e9\\ud83d\\ude00\\/"} ', 'a"b\\\né😀/'],
  ['{"input":""}', ''],
  ['{}', ''],
  ['', ''],
  // The model did not write what was asked for.
  ['plain text', 'plain text'],
  [`{"command":"${'x'.repeat(300)}"}`, `{"command":"${'x'.repeat(300)}"}`],
])('%s', (text, expected) => {
  expect(read([text])).toBe(expected)
  expect(read([...text])).toBe(expected)
  for (let at = 0; at <= text.length; at++) expect(read([text.slice(0, at), text.slice(at)])).toBe(expected)
})

test('text goes on as it comes', () => {
  const input = new TextInput()
  expect(['{"inp', 'ut":"', 'one ', 'two\\', 'n', '"', '}'].map((piece) => input.read(piece))).toEqual([
    '',
    '',
    'one ',
    'two',
    '\n',
    '',
    '',
  ])
})
