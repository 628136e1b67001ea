import { expect, test } from 'vitest'
import { JsonStringSplitter } from './json-string-splitter.ts'

/** Strings with `k:` for keys and `v:` for values; what is between them; undefined if it is refused. */
function split(pieces: readonly string[]) {
  const splitter = new JsonStringSplitter()
  const strings: string[] = []
  let outside = ''
  let ended = 0
  for (const piece of pieces) {
    const rest = splitter.push(piece, (part) => {
      if (part.kind === 'outside') outside += part.text
      else if (part.kind === 'begin') strings.push(part.isKey ? 'k:' : 'v:')
      else if (part.kind === 'inside') strings.push(strings.pop()! + part.text)
      else ended++
      if (part.kind === 'inside' || part.kind === 'outside') expect(part.text).not.toBe('')
    })
    if (rest !== undefined) return undefined
  }
  expect(ended).toBe(strings.length)
  return { strings, outside }
}

function everySplit(json: string) {
  const whole = split([json])
  for (let at = 0; at <= json.length; at++) expect(split([json.slice(0, at), json.slice(at)])).toEqual(whole)
  expect(split([...json])).toEqual(whole)
  return whole
}

test.each<[json: string, strings: string[], outside: string]>([
  ['""', ['v:'], ''],
  ['"a"', ['v:a'], ''],
  ['{}', [], '{}'],
  [
    '{"a":"b","c":["d",{"e":"f"},"g"],"h":"i"}',
    ['k:a', 'v:b', 'k:c', 'v:d', 'k:e', 'v:f', 'v:g', 'k:h', 'v:i'],
    '{:,:[,{:},],:}',
  ],
  ['{ "a": "b" , "c": [ "d" ] }', ['k:a', 'v:b', 'k:c', 'v:d'], '{ :  , : [  ] }'],
  ['[{"a":1},"b"]', ['k:a', 'v:b'], '[{:1},]'],
  ['[["a"],"b",{"c":[]},"d"]', ['v:a', 'v:b', 'k:c', 'v:d'], '[[],,{:[]},]'],
  ['{"a":{"b":"c"},"d":"e"}', ['k:a', 'k:b', 'v:c', 'k:d', 'v:e'], '{:{:},:}'],
  ['{"a":null,\n "b" : -1.5E+3}', ['k:a', 'k:b'], '{:null,\n  : -1.5E+3}'],
  ['[true ,false\t,0]', [], '[true ,false\t,0]'],
  [String.raw`"\"\\\/\b\f\n\r\t"`, ['v:"\\/\b\f\n\r\t'], ''],
  [String.raw`"\u0041\u00e9\uD83d\uDE42z"`, ['v:Aé🙂z'], ''],
  ['"🙂"', ['v:🙂'], ''],
])('%s is split alike wherever it is cut', (json, strings, outside) => {
  expect(everySplit(json)).toEqual({ strings, outside })
})

test.each<[pieces: string[], rest: string | undefined]>([
  [['{"a":12', '3 4}'], '4}'],
  [['{"a":12', '-3}'], '-3}'],
  [['[nul', 'x 1]'], 'x 1]'],
  [['["a" ', '"b"]'], '"b"]'],
  [['["a\\u0', '0g'], undefined],
  [['["a\\u0', '0g41b"]'], '\\u00g41b"]'],
  [['["a\\', 'xb"]'], '\\xb"]'],
  [['["a', '\nb"]'], '\nb"]'],
])('%j is JSON up to %j', (pieces, rest) => {
  const splitter = new JsonStringSplitter()
  const last = pieces.pop()!
  for (const piece of pieces) expect(splitter.push(piece, () => {})).toBeUndefined()
  expect(splitter.push(last, () => {})).toBe(rest)
})

test.each([
  String.raw`"\x"`,
  String.raw`"\u12g4"`,
  String.raw`"\u 123"`,
  String.raw`"\uG000"`,
  String.raw`"\u000G"`,
  'a',
  "'a'",
  '{a:1}',
  'nul1',
  'truefalse',
  '1 2',
  '"a" 1',
  '1"a"',
  'null"a"',
  '"a""b"',
  '[1 "a"]',
  '"a\nb"',
  '"\u001f"',
])('%s is no JSON', (json) => {
  expect(everySplit(json)).toBeUndefined()
})
