import { expect, test } from 'vitest'
import { MemberScanner } from './member-scanner.ts'

const CONTAINERS = new Set(['', 'a', 'a.b'])

/** What is read of texts that arrive in pieces of a size. */
function read(texts: readonly string[], size: number): string[] {
  const seen: string[] = []
  const scanner = new MemberScanner(CONTAINERS, (path, value) => seen.push(`${path}=${value}`))
  for (const text of texts) {
    scanner.reset()
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += size) scanner.push(bytes, at, Math.min(bytes.length, at + size))
  }
  return seen
}

test.each<[text: string, seen: readonly string[]]>([
  ['{"x":"1","y":-2.5e3,"z":true,"n":null}', ['x=1', 'y=-2.5e3', 'z=true', 'n=null']],
  [' { "x" : "1" , "a" : { "y" : "2" } , "z" : 3 } ', ['x=1', 'a.y=2', 'z=3']],
  ['{"a":{"b":{"c":{"d":1},"e":2},"f":3}}', ['a.b.e=2', 'a.f=3']],
  ['{"x":[{"x":1},"x:2",[3]],"y":4}', ['y=4']],
  ['{"other":{"b":{"x":1}},"b":{"x":1},"y":4}', ['y=4']],
  ['{"x":"\\"}{\\\\","y":"\\u00e4\\n","\\u007a":"\ud83d\ude00"}', ['x="}{\\', 'y=\u00e4\n', 'z=\ud83d\ude00']],
  ['{"x":"\\u12","y":1}', ['y=1']],
  [`{"x":"${'v'.repeat(300)}","${'k'.repeat(300)}":1,"y":${'9'.repeat(300)},"z":2}`, ['=1', 'z=2']],
  [`{"x":"${'\\\\'.repeat(1000)}","y":"${'\\"'.repeat(1000)}","z":1}`, ['z=1']],
  ['{"":{"":{"x":1}},"y":2}', ['y=2']],
  ['{}', []],
  ['', []],
  ['"x"', []],
  ['[{"x":1}]', []],
  ['}}]],,::{"x":1}', ['x=1']],
  ['{"x":', []],
])('%s', (text, seen) => {
  for (const size of [1, 2, 3, 7, 4096]) expect(read([text], size), `${size}`).toEqual(seen)
})

test('a text after an unfinished one', () => {
  for (const size of [1, 4096]) expect(read(['{"a":{"b":["\\', '{"x":1}'], size)).toEqual(['x=1'])
})

test('a deep text takes linear time and no memory', () => {
  const deep = `{"x":${'{"a":['.repeat(200_000)}1${']}'.repeat(200_000)},"y":2}`
  expect(read([deep], 65_536)).toEqual(['y=2'])
})
