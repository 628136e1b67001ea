import { expect, test } from 'vitest'
import { sampleSize } from '#test/support/sample-size.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { beginsArguments, isJson } from '../../texts/argument-texts.ts'
import { JsonStringSplitter } from './json-string-splitter.ts'

/** Strings with `k:` for keys and `v:` for values; up to where the text is settled; up to where it is JSON; and how many strings have ended. */
function split(pieces: readonly string[]) {
  const splitter = new JsonStringSplitter()
  const text = pieces.join('')
  const strings: string[] = []
  let [settled, base, ended] = [0, 0, 0]
  for (const piece of pieces) {
    const to = splitter.push(piece, (part) => {
      if (part.kind === 'begin') {
        strings.push(part.isKey ? 'k:' : 'v:')
        settled = base
      } else if (part.kind === 'inside') {
        // The end of the text before may have waited.
        const from = settled < base ? settled : base + part.start
        settled = base + part.end
        expect(part.text).toBe(JSON.parse(`"${text.slice(from, settled)}"`))
        expect(part.text).not.toBe('')
        strings.push(strings.pop()! + part.text)
      } else ended++
    })
    if (to > 0) settled = base + to
    base += piece.length
    if (splitter.isBroken) break
  }
  const { isBroken, hasBegun } = splitter
  return { strings, settled, isBroken, hasBegun, ended }
}

function everySplit(json: string) {
  const whole = split([json])
  for (let at = 0; at <= json.length; at++) expect(split([json.slice(0, at), '', json.slice(at)])).toEqual(whole)
  for (const chars of [[...json], json.split('')]) expect(split(chars)).toEqual(whole)
  return whole
}

test.each<[json: string, strings: string[]]>([
  ['""', ['v:']],
  [' "a"', ['v:a']],
  ['{}', []],
  ['[]', []],
  ['[[],{}]', []],
  ['{"a":"b","c":["d",{"e":"f"},"g"],"h":"i"}', ['k:a', 'v:b', 'k:c', 'v:d', 'k:e', 'v:f', 'v:g', 'k:h', 'v:i']],
  ['{ "a": "b" , "c": [ "d" ] }\n', ['k:a', 'v:b', 'k:c', 'v:d']],
  ['[{"a":1},"b"]', ['k:a', 'v:b']],
  ['[["a"],"b",{"c":[]},"d"]', ['v:a', 'v:b', 'k:c', 'v:d']],
  ['{"a":{"b":"c"},"d":"e"}', ['k:a', 'k:b', 'v:c', 'k:d', 'v:e']],
  ['{"a":null,\n "b" : -1.5E+3}', ['k:a', 'k:b']],
  ['[true ,false\t,0,-0,10,1.500,0.5,0e1,0E10,1e999,1E-9,2.5e+10,\r12]', []],
  [String.raw`"\"\\\/\b\f\n\r\t"`, ['v:"\\/\b\f\n\r\t']],
  [String.raw`"\u0041\u00e9\uD83d\uDE42z\uFFFF"`, ['v:Aé🙂z\uffff']],
  [String.raw`["🙂","\ud83d🙂","\ude42\ud83d",""]`, ['v:🙂', 'v:\ud83d🙂', 'v:\ude42\ud83d', 'v:']],
])('%s is split alike wherever it is cut', (json, strings) => {
  const whole = { strings, settled: json.length, isBroken: false, hasBegun: true, ended: strings.length }
  expect(everySplit(json)).toEqual(whole)
})

test.each<[string: string, parts: string[]]>([
  ['"ab é🙂"', ['ab é🙂']],
  [String.raw`"ab\/c\n\u0064e"`, ['ab', '/', 'c', '\n', 'd', 'e']],
  [String.raw`"a\ud83d\ude42b"`, ['a', '🙂', 'b']],
  [String.raw`"\ud83d\ud83d\ude42\ude42"`, ['\ud83d', '🙂', '\ude42']],
  ['"\ud83d\\ude42\\ud83d\ude42"', ['🙂', '🙂']],
])('each escape in %s is a part', (string, parts) => {
  const found: string[] = []
  new JsonStringSplitter().push(string, (part) => {
    if (part.kind === 'inside') found.push(part.text)
  })
  expect(found).toEqual(parts)
})

test.each([
  ['', undefined, false],
  ['{', undefined, false],
  ['{"', 'key', false],
  ['{"a\\', 'key', true],
  ['{"a"', undefined, false],
  ['{"a":"', 'value', false],
  ['{"a":"b",', undefined, false],
  ['{"a":"b","', 'key', false],
  ['["a', 'value', false],
  ['["\\u00', 'value', true],
  ['["\\u0061', 'value', false],
  ['["\ud83d', 'value', true],
  ['["\\ud83d"', undefined, false],
  ['"a', 'value', false],
])('behind %j, the string is: %s; a character has begun: %s', (text, string, isInCharacter) => {
  const splitter = new JsonStringSplitter()
  splitter.push(text, () => {})
  expect(splitter).toMatchObject({ string, isInCharacter })
})

test.each<[text: string, waiting: string]>([
  ['', ''],
  ['{"a":12', '12'],
  ['{"a":12 ', ''],
  ['[-', '-'],
  ['[1.5e', '1.5e'],
  ['[nul', 'nul'],
  ['["a', ''],
  ['["a\\', '\\'],
  ['["a\\u00e', '\\u00e'],
  ['["a\ud83d', '\ud83d'],
  ['["a\\ud83d', '\\ud83d'],
  ['["a\ud83d\\ude4', '\ud83d\\ude4'],
  ['["a\\ud83d\\ud83d', '\\ud83d'],
  ['["a\\ud83d\\ud83d\\ud83d\\ud8', '\\ud83d\\ud8'],
  [' \n', ' \n'],
])('%j is the beginning of arguments, and %j waits', (text, waiting) => {
  const { settled, isBroken } = everySplit(text)
  expect({ isBroken, waiting: text.slice(settled) }).toEqual({ isBroken: false, waiting })
})

test.each<[text: string, rest: string]>([
  ['a', 'a'],
  [' 12', ' 12'],
  ['null', 'null'],
  [']', ']'],
  ['{4111}', '4111}'],
  ["{'a':1}", "'a':1}"],
  ['{a:1}', 'a:1}'],
  ['{,', ','],
  ['{]', ']'],
  ['[}', '}'],
  ['["a"}', '}'],
  ['[,', ','],
  ['[1,]', ']'],
  ['{"a":1,}', '}'],
  ['{"a":1,2', '2'],
  ['{"a" "b"}', '"b"}'],
  ['{"a",1}', ',1}'],
  ['{"a"}', '}'],
  ['{"a":}', '}'],
  ['{"a"::', ':'],
  ['["a":1]', ':1]'],
  ['{"a":"b":', ':'],
  ['[1 2]', '2]'],
  ['[1 "a"]', '"a"]'],
  ['["a" "b"]', '"b"]'],
  ['{}]', ']'],
  ['{},', ','],
  ['{}{}', '{}'],
  ['""1', '1'],
  ['"a" b', 'b'],
  ['[1"a"]', '1"a"]'],
  ['[null"a"]', 'null"a"]'],
  ['[truefalse]', 'truefalse]'],
  ['[nulx', 'nulx'],
  ['[nul]', 'nul]'],
  ['[01', '01'],
  ['[1.]', '1.]'],
  ['[-]', '-]'],
  ['[-a]', '-a]'],
  ['[1e]', '1e]'],
  ['[1e+]', '1e+]'],
  ['[.5]', '.5]'],
  ['[+1]', '+1]'],
  ['[1-2]', '1-2]'],
  ['[1.5.', '1.5.'],
  ['[1e5.', '1e5.'],
  ['[12:', '12:'],
  ['[1\u00a0', '1\u00a0'],
  [String.raw`"a\x"`, String.raw`\x"`],
  [String.raw`"\u12g4"`, String.raw`\u12g4"`],
  [String.raw`"\u 123"`, String.raw`\u 123"`],
  [String.raw`"\u000G"`, String.raw`\u000G"`],
  [String.raw`"a\ud83d\q"`, String.raw`\ud83d\q"`],
  ['"a\nb"', '\nb"'],
  ['"\u001f"', '\u001f"'],
  ['"a\ud83d\n', '\ud83d\n'],
  [String.raw`"a\ud83d\ud83d\q"`, String.raw`\ud83d\q"`],
])('%j is no JSON from %j on', (text, rest) => {
  const { settled, isBroken } = everySplit(text)
  expect({ isBroken, rest: text.slice(settled) }).toEqual({ isBroken: true, rest })
})

const CHARS = [...'{}[],:"\\/ \n\u0001aeE+-.0123truefalsenullu', '\\u00e9', '\\ud83d', '\\ude42', '🙂', '"a":', '"b"']

/** JSON with a mistake, or a part of it. */
function textFrom(random: SeededRandom): string {
  if (random.below(4) === 0) return Array.from({ length: random.below(8) }, () => random.pick(CHARS)).join('')
  const json = [...valueFrom(random, 3)]
  for (let count = random.below(3); count > 0; count--) {
    json.splice(random.below(json.length), random.below(2), ...(random.below(2) === 0 ? random.pick(CHARS) : ''))
  }
  return json.slice(0, random.below(4) === 0 ? random.below(json.length) : undefined).join('')
}

function valueFrom(random: SeededRandom, depth: number): string {
  const space = random.pick(['', '', '', ' ', '\n'])
  const values = (count: number, write: () => string) => Array.from({ length: random.below(count) }, write).join(',')
  const name = () => `${space}"${random.pick(['a', '', '\\"', '\\u00e9'])}"`
  switch (depth === 0 ? 2 + random.below(2) : random.below(4)) {
    case 0:
      return `${space}[${values(3, () => valueFrom(random, depth - 1))}]${space}`
    case 1:
      return `${space}{${values(3, () => `${name()}${space}:${valueFrom(random, depth - 1)}`)}}`
    case 2:
      return `${name()}${space}`
    default:
      return space + random.pick(['0', '-1', '12.50', '1e9', '-0.1E-20', 'true', 'false', 'null']) + space
  }
}

/** Whether some text behind it makes it JSON, as the runtime reads JSON. */
function beginsJson(text: string): boolean {
  const closing: string[] = []
  for (const char of text.replaceAll(/"(?:[^"\\]|\\.)*(?:"|\\?$)/g, '')) {
    if (char === '{' || char === '[') closing.unshift(char === '{' ? '}' : ']')
    else if (char === '}' || char === ']') closing.shift()
  }
  if (/^[ \t\r\n]*$/.test(text)) return true
  return (
    beginsArguments(text) && ENDS.some((end) => BEHIND.some((behind) => isJson(text + end + behind + closing.join(''))))
  )
}
/** The end of a string, a number or a literal. */
const ENDS = [
  '',
  '"',
  'n"',
  'u0000"',
  '0000"',
  '000"',
  '00"',
  '0',
  'true',
  'rue',
  'ue',
  'e',
  'alse',
  'lse',
  'se',
  'ull',
  'll',
  'l',
]
/** What may be missing of an object or list behind that. */
const BEHIND = ['', ':0', '0', '"":0']

test('a text is JSON as far as the runtime says', () => {
  const random = seededRandom(1)
  const found = { broken: 0, whole: 0, cut: 0 }
  for (let each = 0; each < sampleSize(1500, 40_000); each++) {
    const text = textFrom(random)
    const whole = split([text])
    expect({ text, ...split(random.pieces(text, 4)) }).toEqual({ text, ...whole })
    if (whole.isBroken) {
      // The first character that cannot be JSON.
      let at = 1
      while (!split([text.slice(0, at)]).isBroken) at++
      const [before, behind] = [beginsJson(text.slice(0, at - 1)), beginsJson(text.slice(0, at))]
      expect({ text, at, before, behind }).toEqual({ text, at, before: true, behind: false })
      found.broken++
      continue
    }
    expect({ text, begins: beginsJson(text) }).toEqual({ text, begins: true })
    if (!whole.hasBegun || !isJson(text)) found.cut++
    else {
      const strings = [...text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g)].map(
        ([, json, colon]) => (colon === undefined ? 'v:' : 'k:') + JSON.parse(json!),
      )
      expect({ text, strings: whole.strings }).toEqual({ text, strings })
      expect(whole.settled).toBe(text.length)
      found.whole++
    }
  }
  for (const count of Object.values(found)) expect(count).toBeGreaterThan(100)
})

test('a long number costs what its characters cost', () => {
  const splitter = new JsonStringSplitter()
  splitter.push('[', () => {})
  for (let each = 0; each < 20_000; each++) expect(splitter.push('1'.repeat(100), () => {})).toBe(0)
  expect(splitter.push(']', () => {})).toBe(1)
})

test('JSON has at most 10,000 levels', () => {
  const deepest = '[{"a":'.repeat(5000)
  expect(split([deepest])).toMatchObject({ settled: deepest.length, isBroken: false })
  for (const open of ['[', '{']) {
    expect(split([deepest, open])).toMatchObject({ settled: deepest.length, isBroken: true })
    expect(split([deepest, `1},${open}`])).toMatchObject({ isBroken: false })
  }
})
