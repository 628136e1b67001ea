import { expect, test } from 'vitest'
import { Pace, runAtOnce } from '#base/in-slices.ts'
import { beginsArguments, readArguments } from './argument-texts.ts'

function argumentsOf(text: string) {
  const found: { start: number; end: number; text: string; canChange: boolean }[] = []
  const reading = readArguments(text, new Pace(), (text, canChange, start, end) =>
    found.push({ start, end, text, canChange }),
  )
  return runAtOnce(reading) ? found : undefined
}

test('all strings with their places, names cannot change', () => {
  expect(argumentsOf('{"to":["jan\\u0065"],"n":1}')).toEqual([
    { start: 1, end: 5, text: 'to', canChange: false },
    { start: 7, end: 18, text: 'jane', canChange: true },
    { start: 20, end: 23, text: 'n', canChange: false },
  ])
  expect(argumentsOf('{"\u00e9":1,"a":"jan\\u0065","a"\n:["b\\"",":"]}')).toEqual([
    { start: 1, end: 4, text: '\u00e9', canChange: false },
    { start: 7, end: 10, text: 'a', canChange: false },
    { start: 11, end: 22, text: 'jane', canChange: true },
    { start: 23, end: 26, text: 'a', canChange: false },
    { start: 29, end: 34, text: 'b"', canChange: true },
    { start: 35, end: 38, text: ':', canChange: true },
  ])
  expect(argumentsOf('plain')).toBeUndefined()
})

test('arguments without strings have none; a number or a literal is no arguments, but text', () => {
  for (const text of ['{}', ' []', '\t[1,[2,{}],null]']) expect(argumentsOf(text)).toEqual([])
  for (const text of ['4111111111111111', '-1', 'true', 'null', '', ' ']) expect(argumentsOf(text)).toBeUndefined()
})

test('arguments of many strings', () => {
  const texts = Array.from({ length: 5000 }, (_, index) => String(index))
  const found = argumentsOf(JSON.stringify(texts))
  expect(found?.map(({ text }) => text)).toEqual(texts)
  expect(found?.at(-1)).toMatchObject({ start: 33_884, end: 33_890 })
})

test('a long name in arguments is a text', () => {
  const name = 'jane '.repeat(40_000)
  const json = JSON.stringify({ [name]: 1 })
  expect(argumentsOf(json)).toEqual([{ start: 1, end: json.length - 3, text: name, canChange: false }])
})

test('strings are in the order of the text, also behind lists and objects that are over', () => {
  for (const json of ['[[["a"],"b"],{"c":{"d":["e"]}},"f"]', '"a"', '{"a":{"b":"c"},"d":"e"}']) {
    expect(argumentsOf(json)?.map(({ text }) => text)).toEqual(json.match(/[a-z]/g))
  }
})

test('of an object with a name twice, all strings are read, with their places', () => {
  const json = ' {"é":"é\\"","a" :"b", "a":["\\u0063",1]} '
  expect(argumentsOf(json)).toEqual([
    { start: 2, end: 5, text: 'é', canChange: false },
    { start: 6, end: 11, text: 'é"', canChange: true },
    { start: 12, end: 15, text: 'a', canChange: false },
    { start: 17, end: 20, text: 'b', canChange: true },
    { start: 22, end: 25, text: 'a', canChange: false },
    { start: 27, end: 35, text: 'c', canChange: true },
  ])
  for (const text of ['{"a":1,"a":2', '{"a":1,"a":}', '["a"', '{"a"']) expect(argumentsOf(text)).toBeUndefined()
})

/** How often it yields: at least once, after the text has been parsed. */
function yieldsFor(text: string): number {
  const reading = readArguments(text, new Pace(), () => {})
  let yields = 0
  while (reading.next().done !== true) yields++
  return yields
}

test.each(['', '"a":0,"a":0,'])('many strings are read in steps: {%s ...}', (beginning) => {
  const members = (count: number, text: string) => {
    const list = Array.from({ length: count }, (_, at) => `"${at}":"${text}"`)
    return yieldsFor(`{${beginning}${list.join(',')}}`)
  }
  const few = members(8, 'a')
  expect(few).toBe(1)
  // 256 units of work for a string, and one for each of its characters, where a step has 16,384.
  expect(members(640, 'a') - few).toBeGreaterThanOrEqual(10)
  expect(members(40, 'a'.repeat(8000)) - few).toBeGreaterThanOrEqual(16)
})

test.each<[text: string, begins: boolean]>([
  ['{', true],
  ['[1', true],
  ['"', true],
  [' \t\r\n{', true],
  ['', false],
  [' ', false],
  ['1', false],
  ['a{', false],
  ['\u00a0{', false],
])('%j begins arguments: %s', (text, begins) => {
  expect(beginsArguments(text)).toBe(begins)
})
