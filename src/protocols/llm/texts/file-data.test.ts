import { expect, test } from 'vitest'
import { readRequestTexts } from '../dialects/completions/texts.ts'
import { readTextFile } from './file-data.ts'
import { runsOf } from './testing.ts'

const base64Of = (text: string, coding: BufferEncoding) => Buffer.from(text, coding).toString('base64')
const base64 = (text: string) => base64Of(text, 'utf8')

test.each<[data: string, mediaType: string | undefined, masked: string]>([
  [base64('caf\u00e9'), 'text/plain; charset=utf-8', base64('<masked>')],
  [base64('{"a":1}'), 'application/ld+json', base64('<masked>')],
  [`data:text/csv;base64,${base64('a,b')}`, 'image/png', `data:text/csv;base64,${base64('<masked>')}`],
  ['data:,plain%20text', undefined, 'data:,%3Cmasked%3E'],
  [`data:text/plain,1234567${base64('a,b')}`, undefined, 'data:text/plain,%3Cmasked%3E'],
])('a text file can be written again: %s as %s', (data, mediaType, masked) => {
  const file = readTextFile(data, mediaType)
  expect(file).toMatchObject({ isDamaged: false })
  expect(typeof file === 'object' && file.write('<masked>')).toBe(masked)
})

test.each(['text/plain', undefined])('a text file in UTF-16 is read, and cannot be changed: as %s', (mediaType) => {
  const bytes = Buffer.from('caf\u00e9', 'utf16le')
  const marked = Buffer.concat([Buffer.from([0xff, 0xfe]), bytes])
  for (const data of [bytes, marked, Buffer.from(marked).swap16()]) {
    const file = readTextFile(data.toString('base64'), mediaType)
    expect(file).toMatchObject({ text: expect.stringMatching(/^caf\u00e9\n/), isDamaged: true })
  }
})

const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1').toString('base64')
const HIDDEN = 'jane@example.org'

test.each<[what: string, data: string, mediaType: string | undefined]>([
  ['of a type that is no text', base64(HIDDEN), 'application/pdf'],
  ['of a type that is no text, in a data URL', `data:application/x-python;base64,${base64(HIDDEN)}`, undefined],
  ['of a type that is no text, without base64', `data:application/octet-stream,${HIDDEN}`, undefined],
  ['with control characters', base64(`\0${HIDDEN}`), undefined],
  ['with control characters, a long one', base64(`\0${HIDDEN} é`.repeat(4096)), undefined],
  [
    'with control characters, a long one whose sample ends in a letter',
    base64(`\0${HIDDEN}${'é'.repeat(8000)}`),
    undefined,
  ],
  ['in Latin-1, a long one', base64Of(`café ${HIDDEN} `.repeat(1000), 'latin1'), undefined],
  ['in UTF-16, a long one', Buffer.from(`\ufeff${HIDDEN}`.repeat(4096), 'utf16le').toString('base64'), undefined],
  ['in Latin-1', Buffer.from(`caf\u00e9 ${HIDDEN}`, 'latin1').toString('base64'), undefined],
  ['in UTF-32', utf32(HIDDEN).toString('base64'), 'text/plain'],
  ['in UTF-32, big-endian', utf32(HIDDEN).swap32().toString('base64'), undefined],
  ['in UTF-16, with a control character', base64Of(`\x01${HIDDEN}`, 'utf16le'), undefined],
  ['in UTF-16 with a mark, and a control character', base64Of(`\ufeff\x01${HIDDEN}`, 'utf16le'), undefined],
  [
    'in UTF-16, with many control characters',
    base64Of(`\x01\x02${HIDDEN}${'\x01'.repeat(20)}`, 'utf16le'),
    'text/plain',
  ],
  ['in UTF-8 behind zeros', base64(`a\0b\0${HIDDEN}`), 'text/plain'],
  ['in UTF-8 behind zeros, of an unknown type', base64(`a\0b\0${HIDDEN}`), undefined],
  ['in UTF-8 behind the mark of UTF-16', base64Of(`\xff\xfe${HIDDEN}`, 'latin1'), 'text/plain'],
  ['in UTF-8 behind the other mark of UTF-16', base64Of(`\xfe\xff${HIDDEN}`, 'latin1'), undefined],
  ['behind a comma before the parameter', `data:text/plain,;base64,${base64(HIDDEN)}`, undefined],
  ['with signs that are no base64, and bytes that are no text', `https:abc${base64(HIDDEN.repeat(2))}`, undefined],
  ['with signs that are no base64, and a control character', `!${base64(`\x01${HIDDEN}`)}`, undefined],
  ['with signs that are no base64', base64(HIDDEN).replace('Z', '!Z'), undefined],
  ['with signs that are no base64, and one more at the end', `!${base64(`${HIDDEN}ab`)}A`, undefined],
  ['behind a comma in a parameter', `data:text/plain;name="a,b";base64,${base64(HIDDEN)}`, undefined],
])('a text %s is read, and cannot be changed', (_, data, mediaType) => {
  expect(readTextFile(data, mediaType)).toMatchObject({ text: expect.stringContaining(HIDDEN), isDamaged: true })
})

function utf32(text: string): Buffer {
  return Buffer.from(Uint32Array.from([...`\ufeff${text}`].map((sign) => sign.codePointAt(0)!)).buffer)
}

test.each([
  ['\0a\0b', 'ab\n\0a\0b'],
  ['\0a\0bc', 'ab\ufffd\n\0a\0bc'],
  ['\0a\0', '\0a\0'],
  ['\0abc', '\0abc'],
  ['\0\0\0a', 'a\n\0\0\0a'],
  ['a\0b\0', 'ab\na\0b\0'],
  ['a\0bc', 'a\0bc'],
  ['ab\0\0', 'ab\0\0'],
  ['\0\0b\0', '\u6200\n\0\0b\0'],
  ['\xfea\0b', '\ufffda\0b\n\xfea\0b'],
  ['a\xff\0b', 'a\ufffd\0b\na\xff\0b'],
  ['\xffa\0b', '\ufffda\0b\n\xffa\0b'],
  ['a\xfe\0b', 'a\ufffd\0b\na\xfe\0b'],
])('the bytes %j as a text', (bytes, text) => {
  expect(readTextFile(base64Of(bytes, 'latin1'), 'text/plain')).toMatchObject({ text })
})

test('a text in Latin-1 is read with its letters', () => {
  for (const mediaType of ['text/plain', undefined]) {
    const file = readTextFile(base64Of('no caf\u00e9 today', 'latin1'), mediaType)
    expect(file).toMatchObject({ text: expect.stringContaining('no caf\u00e9 today'), isDamaged: true })
  }
})

test('a mark at the beginning of a file in UTF-8 is a part of its text', () => {
  expect(readTextFile(base64('\ufeffabc'), 'text/plain')).toMatchObject({ text: '\ufeffabc', isDamaged: false })
  const latin = Buffer.concat([Buffer.from('\ufeff'), Buffer.from('no caf\u00e9 today', 'latin1')])
  expect(readTextFile(latin.toString('base64'), 'text/plain')).toMatchObject({
    text: expect.stringMatching(/^\ufeffno caf/),
    isDamaged: true,
  })
})

test('base64 may have the signs for URLs', () => {
  const text = `>>>???${HIDDEN}`
  const data = Buffer.from(text).toString('base64url')
  expect(data).toMatch(/-.*_/)
  expect(readTextFile(data, undefined)).toMatchObject({ text, isDamaged: false })
})

test('a long file that begins with binary data is read if it is said to be text', () => {
  const bytes = Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.from(HIDDEN.repeat(1000))])
  const file = readTextFile(bytes.toString('base64'), 'text/plain')
  expect(file).toMatchObject({ text: expect.stringContaining(HIDDEN), isDamaged: true })
})

test('base64 may be percent-encoded in a data URL', () => {
  const file = readTextFile(`data:text/plain;base64,${encodeURIComponent(base64('a@b'))}%0A`, undefined)
  expect(file).toMatchObject({ text: 'a@b', isDamaged: false })
})

test.each<[data: string, mediaType: string | undefined, read: 'invalid' | undefined]>([
  [PNG, undefined, undefined],
  [PNG, 'image/png', undefined],
  [`data:application/octet-stream;base64,${PNG}`, undefined, undefined],
  ['not base64!', undefined, 'invalid'],
  ['data:text/plain,%zz', undefined, 'invalid'],
  ['data:text/plain;base64,%zz', undefined, 'invalid'],
  ['!', undefined, 'invalid'],
  [`!${base64('\x01'.repeat(12))}`, undefined, 'invalid'],
])('%s as %s is no text file', (data, mediaType, read) => expect(readTextFile(data, mediaType)).toBe(read))

test.each([
  [15, true],
  [14, false],
])('in UTF-16, %i letters for a control character are a text: %j', (letters, isText) => {
  const text = `${'a'.repeat(letters)}\x01`
  const bytes = Buffer.from(text, 'utf16le')
  const asBytes = bytes.toString('latin1')
  const file = readTextFile(bytes.toString('base64'), undefined)
  expect(file).toMatchObject({ text: isText ? `${text}\n${asBytes}` : asBytes, isDamaged: true })
})

test.each([
  [9, true],
  [10, false],
  [40, false],
])('a file of 40 bytes of which %i are not UTF-8 is a text: %j', (faults, isText) => {
  const data = base64Of('\xe9'.repeat(faults).padEnd(40, 'a'), 'latin1')
  expect(typeof readTextFile(data, undefined) === 'object').toBe(isText)
  expect(typeof readTextFile(data, 'text/plain')).toBe('object')
  expect(readTextFile(`!${data}`, undefined) === 'invalid').toBe(!isText)
})

test('a long file that begins with binary data is no text file', () => {
  const bytes = Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.from(HIDDEN.repeat(1000))])
  expect(readTextFile(bytes.toString('base64'), 'image/png')).toBeUndefined()
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
