import { expect, test } from 'vitest'
import { Pace, runAtOnce } from '#base/in-slices.ts'
import { readRequestTexts } from '../completions/texts.ts'
import { readArguments } from './argument-texts.ts'
import { readTextFile } from './file-data.ts'
import { runsOf } from './testing.ts'

const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64')

test.each<[data: string, mediaType: string | undefined, masked: string]>([
  [base64('caf\u00e9'), 'text/plain; charset=utf-8', base64('<masked>')],
  [base64('{"a":1}'), 'application/ld+json', base64('<masked>')],
  [`data:text/csv;base64,${base64('a,b')}`, 'image/png', `data:text/csv;base64,${base64('<masked>')}`],
  ['data:,plain%20text', undefined, 'data:,%3Cmasked%3E'],
])('a text file can be written again: %s as %s', (data, mediaType, masked) => {
  const file = readTextFile(data, mediaType)
  expect(typeof file === 'object' && file.write('<masked>')).toBe(masked)
})

test.each(['text/plain', undefined])('a text file in UTF-16 is read, and cannot be changed: as %s', (mediaType) => {
  const bytes = Buffer.from('caf\u00e9', 'utf16le')
  const marked = Buffer.concat([Buffer.from([0xff, 0xfe]), bytes])
  for (const data of [bytes, marked, Buffer.from(marked).swap16()]) {
    const file = readTextFile(data.toString('base64'), mediaType)
    expect(file).toMatchObject({ text: 'caf\u00e9', isDamaged: true })
  }
})

test.each<[data: string, mediaType: string | undefined, read: 'invalid' | undefined]>([
  [base64('text'), 'application/pdf', undefined],
  [base64('nul \0'), undefined, undefined],
  ['data:image/png;base64,AAAA', undefined, undefined],
  ['not base64!', undefined, 'invalid'],
  ['data:text/plain,%zz', undefined, 'invalid'],
])('%s as %s is no text file', (data, mediaType, read) => expect(readTextFile(data, mediaType)).toBe(read))

const argumentsOf = (text: string) => runAtOnce(readArguments(text, new Pace()))

test('arguments: all strings with their places, names cannot change', () => {
  expect(argumentsOf('{"to":["jan\\u0065"],"n":1}')).toEqual([
    { start: 1, end: 5, text: 'to', canChange: false },
    { start: 7, end: 18, text: 'jane', canChange: true },
    { start: 20, end: 23, text: 'n', canChange: false },
  ])
  expect(argumentsOf('{"\u00e9":1,"a":"jan\\u0065","a":2}')).toEqual([
    { start: 1, end: 5, text: '\u00e9', canChange: false },
    { start: 8, end: 11, text: 'a', canChange: false },
    { start: 12, end: 23, text: 'jane', canChange: false },
    { start: 24, end: 27, text: 'a', canChange: false },
  ])
  expect(argumentsOf('plain')).toBeUndefined()
})

test('a long name in arguments is a text, in pieces', () => {
  const name = 'jane '.repeat(40_000)
  const json = JSON.stringify({ [name]: 1 })
  expect(argumentsOf(json)).toEqual([{ start: 1, end: json.length - 3, text: name, canChange: false }])
})

test('a name that is longer than those of an interface is a name that a client chose', () => {
  const name = 'jane'.repeat(300)
  const schema = { type: 'object', [name]: 1, properties: { [name]: { [name]: true } } }
  const tools = [{ type: 'function', function: { name: 'f', parameters: schema } }]
  expect(runsOf({ tools, odd: { [name]: 'a' } }, readRequestTexts).flat()).toEqual([
    '(system)',
    'tools[0].function.name: f!',
    `tools[0].function.parameters{1}:name: ${name}!`,
    `tools[0].function.parameters.properties{0}:name: ${name}!`,
    `tools[0].function.parameters.properties{0}{0}:name: ${name}!`,
    '(user)',
    `odd{0}:name: ${name}!`,
    'odd{0}: a',
  ])
})

test('names that a client chose are not in paths, however they look', () => {
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'a', '{jane}': 'b', 'a b': 'c', known_1: 'd' }] }]
  expect(runsOf({ messages, odd: { secret: { deep: 'e' } } }, readRequestTexts)).toEqual([
    ['user', 'messages[0].content[0].text: a'],
    ['(user)', 'messages[0].content[0]{2}: b', 'messages[0].content[0]{3}: c', 'messages[0].content[0].known_1: d'],
    ['(user)', 'odd{0}:name: secret!', 'odd{0}{0}:name: deep!', 'odd{0}{0}: e'],
  ])
})
