import { readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import loadWabt from 'wabt'
import { isUpdate } from '#test/cases/golden-case.ts'
import { isFieldName, isFieldValue } from '../http/field-syntax.ts'
import { readBuffer } from '../transport/read-buffer.ts'
import { EMPTY_LINE, findFieldLines, INCOMPLETE_LINE, MALFORMED_LINE, UNSEARCHED } from './field-lines.ts'
import { FIELD_LINES_CODE } from './field-lines-code.ts'

const SOURCE = 'src/net/http1/field-lines.wat'
const CODE = 'src/net/http1/field-lines-code.ts'

test('the code equals the assembled source', async () => {
  const module = (await loadWabt()).parseWat(SOURCE, readFileSync(SOURCE, 'utf8'))
  module.validate()
  const code = Buffer.from(module.toBinary({}).buffer).toString('base64')
  if (isUpdate) writeFileSync(CODE, readFileSync(CODE, 'utf8').replace(/'[^']*'/, `'${code}'`))
  else expect(FIELD_LINES_CODE, `UPDATE=1 npx vitest run src/net/http1/field-lines.test.ts writes ${CODE}`).toBe(code)
})

interface Found {
  /** Names and values. */
  readonly lines: readonly (readonly [string, string])[]
  readonly stop: number
  readonly next: number
}

/** A simple reference implementation, based on the shared character classes. */
function expectedOf(text: string): Found {
  const lines: [string, string][] = []
  for (let stop = 0; ; ) {
    const until = (next: number) => ({ lines, stop, next })
    const skip = (from: number, isPart: (character: string) => boolean) => {
      let at = from
      while (at < text.length && isPart(text[at]!)) at++
      return at
    }
    if (text[stop] === '\r') return until(EMPTY_LINE)
    const colon = skip(stop, isFieldName)
    if (colon === text.length) return until(INCOMPLETE_LINE)
    if (colon === stop || text[colon] !== ':') return until(MALFORMED_LINE)
    const end = skip(colon + 1, isFieldValue)
    const behind = text.slice(end, end + 2)
    if (behind === '' || behind === '\r') return until(INCOMPLETE_LINE)
    if (behind !== '\r\n') return until(MALFORMED_LINE)
    lines.push([text.slice(stop, colon), text.slice(colon + 1, end).replace(/^[ \t]+|[ \t]+$/g, '')])
    stop = end + 2
  }
}

const offsets = new Int32Array(4 * 10_000)

/** All lines in `bytes[start, end)`, in as many searches as necessary. */
function foundIn(bytes: Buffer, start: number, end: number): Found {
  const lines: [string, string][] = []
  const text = (from: number, to: number) => bytes.toString('latin1', start + offsets[from]!, start + offsets[to]!)
  for (let at = start; ; ) {
    const found = findFieldLines(bytes, at, end)
    found.copyOffsets(start, offsets, lines.length)
    for (let i = 0; i < found.count; i++) {
      const entry = 4 * lines.length
      lines.push([text(entry, entry + 1), text(entry + 2, entry + 3)])
    }
    at = found.stop
    if (found.next !== UNSEARCHED) return { lines, stop: at - start, next: found.next }
  }
}

const otherBuffer = Buffer.alloc(65_536)

/** In place and in a copy, surrounded by bytes that look like more lines. */
function expectFound(text: string, around: string, offset: number): void {
  const expected = expectedOf(text)
  const end = offset + text.length
  for (const buffer of [readBuffer, otherBuffer]) {
    buffer.fill(around, 0, Math.min(buffer.length, end + 64), 'latin1')
    buffer.write(text, offset, 'latin1')
    const found = foundIn(buffer, offset, end)
    // `expect` costs much more than the search.
    if (!isDeepStrictEqual(found, expected)) expect(found).toEqual(expected)
  }
}

test.each([
  '',
  '\r',
  '\r\n',
  'a: b\r\n\r\n',
  'a:\r\n\r\n',
  'a: \t \r\n\r\n',
  'a:\t b c\t \r\n\r\n',
  'a: b\r\nc: d\r\n',
  'a: b\r\nc: d',
  'a: b\r\nc: d\r',
  'a: b\r\nc:',
  'a: b\r\nc',
  'a : b\r\n',
  ' a: b\r\n',
  'a: b\r\n folded\r\n',
  ': b\r\n',
  'a: b\nc: d\r\n',
  'a: b\rc: d\r\n',
  'a: b\0\r\n',
  'a: b\x7f\r\n',
  'a\xe9: b\r\n',
  'a: \xe9\x80\xff\r\n\r\n',
  'content-length0123456789: 15 and 16 bytes of a name\r\n\r\n',
  `${'n'.repeat(200)}: ${'v'.repeat(300)}\r\n\r\n`,
])('lines of %j', (text) => {
  for (const around of ['a', ' ', ':', '\0', '\r\n', 'x: y\r\n']) expectFound(text, around, 7)
})

test('every byte, at every position of a block, in a name and in a value', () => {
  for (let code = 0; code < 256; code++) {
    const byte = String.fromCharCode(code)
    for (let before = 0; before < 18; before++) {
      expectFound(`${'n'.repeat(before)}${byte}n: v\r\n\r\n`, 'a', 1)
      expectFound(`n: ${'v'.repeat(before)}${byte}v\r\n\r\n`, 'a', 1)
    }
  }
})

test('any text', () => {
  const piece = fc.constantFrom(
    'a',
    'Host',
    ': ',
    ':',
    ' ',
    '\t',
    '\r\n',
    '\r',
    '\n',
    '\x80',
    '\0',
    'value',
    'x'.repeat(17),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(40), (pieces, offset) => {
      expectFound(pieces.join(''), 'a', offset)
    }),
    { numRuns: 2000 },
  )
})

test('the maximum number of lines, and the maximum length of a head', () => {
  const many = 'name: value\r\n'.repeat(5000)
  expectFound(`${many}\r\n`, 'a', 0)
  expectFound(many, 'a', 3)
  for (const length of [2030, 2048, 2060, 8192, 60_000]) {
    expectFound(`a: b\r\nlong: ${'v'.repeat(length)}\r\nc: d\r\n\r\n`, 'a', 5)
    expectFound(`long: ${'v'.repeat(length)}\r\nc: d\r\n\r\n`, 'a', 5)
    expectFound(`a: b\r\nlong: ${'v'.repeat(length)}`, 'a', 5)
  }
})

test('a line that is longer than any head stays incomplete', () => {
  const bytes = Buffer.from(`a: b\r\nlong: ${'v'.repeat(300_000)}\r\n\r\n`)
  expect(foundIn(bytes, 0, bytes.length)).toEqual({ lines: [['a', 'b']], stop: 6, next: INCOMPLETE_LINE })
})
