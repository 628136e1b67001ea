import { expect, test } from 'vitest'
import { parseObjects } from './parse-yaml.ts'

test.each<[text: string, fault: string]>([
  ['a:\n  b: 1\n c: 2\n', '3:2 this key is indented by 1 space, the keys above by 0 or 2'],
  [
    '---\na:\n    - b:\n        c: 1\n# x\n\n     d: 2\n',
    '7:6 this key is indented by 5 spaces, the keys above by 0 or 6',
  ],
  [
    'a:\n    b: { c: 1 }\n  - b: { d: 2 }\n',
    '3:3 this list item follows keys that are in no list: "- " may be missing before them',
  ],
  ['a: [1, 2 }\n', '1:10 "[" cannot be closed by "}"'],
  ['a: { b: 1 ]\n', '1:11 "{" cannot be closed by "]"'],
  ['a: 1\n\n  b: 2\n', '3:3 this line is indented differently from the lines above that it belongs to'],
  ['a:\n  - x\n - y\n', '3:2 this list item is indented by 1 space, the items above by 2'],
  ['a:\n  - b: { c: 1 }\n - b: { c: 2 }\n', '3:2 this list item is indented by 1 space, the items above by 2'],
  ['a:\n  - b: { c: 1 }\n   - b: { c: 2 }\n', '3:4 this list item is indented by 3 spaces, the items above by 2'],
  ['a:\n  - b: 1\n    d: 2\n   c: 2\n', '4:4 this key is indented by 3 spaces, the keys above by 0 or 4'],
  ['a: b: c\n', '1:4 a value that contains ": " or ends with ":" must be in quotes'],
  ['a: b:\n', '1:4 a value that contains ": " or ends with ":" must be in quotes'],
  ['b: 0\nx:\n  a: 1\n  b: 2\n  "a": 3\n', '5:3 this key is set twice in one mapping, first in line 3'],
  ['a:\n\tb: 1\n', '2:1 the indentation contains a tab; use spaces'],
  ['a: 1\nb: "x\nc: 1\n', '2:4 this quote is not closed'],
  ["a: 'y'\nb: 'x\nc: 1\n", '2:4 this quote is not closed'],
  ['a: "x" y\n', '1:8 text follows a quoted value; put the whole value in quotes'],
  ['a: [1, 2\nb: 3\n', '2:1 "[" of a line above is not closed before this line, or this line is not indented'],
  ['a: { b: 1, c: 2\n', '2:1 "{" of a line above is not closed before this line, or this line is not indented'],
  ['{"a": 1,\n "b": 2', '2:8 "{" is not closed before the end'],
  ['a: { b: 1 c: 2 }\n', '1:9 a comma is missing: { } and [ ] separate their entries with commas'],
  ['a: [1,,2]\n', '1:7 there is no entry before this comma'],
  ['a: [1]]\n', '1:7 this bracket closes nothing'],
  ['a:1\nb: 2\n', '1:1 a space is missing after the colon of a key'],
  ['- b:\n    - y\n a:1\n', '3:1 a space is missing after the colon of a key'],
  ['a: 1\nfoo\nb: 2\n', '2:1 this line must be a key and a value: a name, a colon and a space'],
  ['a: |\nb\n', '2:1 this line must be a key and a value: a name, a colon and a space'],
  ['a: 1\n- b\n', '2:1 a list item is among the keys of a mapping; indent it under the key of its list'],
  ['- b\na: 1\n', '2:1 this line is not part of the list or mapping above'],
  ["a: [AKIA[0-9]{16}, 'b']\n", '1:9 a value in brackets that contains "[" must be in quotes'],
  ["a: { b: x{2}, c: 'd' }\n", '1:10 a value in brackets that contains "{" must be in quotes'],
  ['a: @x\n', '1:4 a value that starts with @, % or ` must be in quotes'],
  ['a: "\\d"\n', '1:5 there is no such escape in double quotes; write \\\\ for a backslash, or use single quotes'],
  ['a: |x\n  b\n', '1:5 the text after | or > must start in the next line'],
  ['--- b: 1\n', '1:5 the text after "---" must be in the next line'],
  [`${'x'.repeat(1100)}: 1\n`, '1:1 a key has more than 1024 characters'],
  [
    'b: 1\na: *.example.com\n',
    '2:4 a value that starts with * refers to an anchor, and there is none of this name; put other text in quotes',
  ],
  ['a: 1\nb: &b { c: *b }\n', '2:12 this alias is inside the value that its anchor names'],
])('%j', (text, fault) => {
  const { problems } = parseObjects(text, 'a.yaml')
  expect(problems.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual([fault])
})

test('no message contains a part of the text', () => {
  for (const text of ['k: "secret\n', 'k: secret: x\n', 'k: "secret" secret\n', 'secret\nk: 1\n', 'k: *secret\n']) {
    expect(JSON.stringify(parseObjects(text, 'a.yaml').problems)).not.toContain('secret')
  }
})
