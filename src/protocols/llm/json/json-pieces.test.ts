import { expect, test } from 'vitest'
import { runAtOnce, type Steps } from '#base/in-slices.ts'
import { JsonValue, parseInSteps } from './json-document.ts'
import { decodeLongString, endOfPiece, PIECE_BYTES, replaceByString } from './json-pieces.ts'
import { applySplices, encode, type Splice } from './splice.ts'

const LONG = 3 * PIECE_BYTES

/** @returns how often the steps yield, and their result */
function count<Result>(steps: Steps<Result>): [yields: number, result: Result] {
  for (let yields = 0; ; yields++) {
    const step = steps.next()
    if (step.done === true) return [yields, step.value]
  }
}

/** Texts whose every 64 KiB end at another place of an escape or of a character. */
const TEXTS = ['a', '\n', '"', '\\', '\\"', '\u0001', 'é', '€', '😀', 'ab\\', '\\\\n', 'a\u0001', '😀\n'].flatMap(
  (unit) => [0, 1, 2, 3, 4, 5].map((shift) => 'x'.repeat(shift) + unit.repeat(LONG / unit.length)),
)

test('a long string is parsed, decoded and written in pieces, as in one', () => {
  for (const text of TEXTS) {
    const json = JSON.stringify(text)
    const bytes = encode(`[${json}]`)
    const [parses, document] = count(parseInSteps(bytes))
    expect(parses).toBeGreaterThan(1)
    expect(document instanceof JsonValue && document.elements[0]!.end).toBe(bytes.length - 1)
    const [decodes, decoded] = count(decodeLongString(bytes, 2, bytes.length - 2))
    expect(decodes).toBeGreaterThan(1)
    expect(decoded === text).toBe(true)
    const splices: Splice[] = []
    const [writes] = count(replaceByString(splices, 1, 2, text))
    expect(writes).toBeGreaterThan(1)
    expect(Buffer.compare(applySplices(encode('[0]'), splices), bytes)).toBe(0)
  }
})

test('a surrogate by itself stays one at the end of a piece', () => {
  const text = `${'x'.repeat(PIECE_BYTES - 1)}\ud83dx\ude00`
  const bytes = encode(JSON.stringify(text))
  expect(runAtOnce(decodeLongString(bytes, 1, bytes.length - 1)) === text).toBe(true)
})

test('a piece ends before an escape or a character that its limit divides', () => {
  const cases = [
    // text around the limit      bytes before it  end from the limit
    ['abcdefgh', 4, 0],
    ['\\u0041gh', 5, -5],
    ['\\u0041gh', 6, 0],
    ['\\\\\\\\gh', 3, -1],
    ['\\\\\\\\gh', 4, 0],
    ['\\\\n', 2, 0],
    ['😀', 3, -3],
    ['é', 1, -1],
  ] as const
  for (const [text, before, end] of cases) {
    const bytes = encode(`${'x'.repeat(PIECE_BYTES - before)}${text}${'x'.repeat(100)}`)
    expect([text, before, endOfPiece(bytes, 0) - PIECE_BYTES]).toEqual([text, before, end])
  }
})

test('faults of long strings are found in any piece', () => {
  for (const at of [10, PIECE_BYTES + 10, LONG - 10]) {
    for (const fault of ['\n', '\\x', '\\u12']) {
      const text = `"${'x'.repeat(at)}${fault}${'x'.repeat(LONG - at)}"`
      expect(runAtOnce(parseInSteps(encode(text)))).toEqual({ fault: 'not-json', at: at + 1 })
    }
  }
  const endless = encode(`"${'x'.repeat(LONG)}`)
  expect(runAtOnce(parseInSteps(endless))).toEqual({ fault: 'not-json', at: endless.length })
})

test.each([
  ['many values', `[${'0,'.repeat(50_000)}0]`],
  ['many bytes', `[${`"${'x'.repeat(1000)}",`.repeat(500)}0]`],
  ['many keys', `{${Array.from({ length: 5000 }, (_, index) => `"${index}":0`).join()}}`],
])('parsing yields: %s', (_, json) => {
  const [yields, document] = count(parseInSteps(encode(json)))
  expect(document).toBeInstanceOf(JsonValue)
  expect(yields).toBeGreaterThan(2)
})

test('a long key is valid, and compared', () => {
  const key = `"${'é\\n'.repeat(LONG / 4)}"`
  expect(runAtOnce(parseInSteps(encode(`{${key}:1}`)))).toBeInstanceOf(JsonValue)
  const twice = runAtOnce(parseInSteps(encode(`{${key}:1,${key}:2}`)))
  expect(twice).toMatchObject({ fault: 'duplicate-key' })
  const alike = `"${'é\\u000a'.repeat(LONG / 4)}"`
  for (const [before, after] of [
    [key, alike],
    [`"a":0,${key}`, `"b":0,${alike}`],
  ]) {
    expect(runAtOnce(parseInSteps(encode(`{${before}:1,${after}:2}`)))).toMatchObject({ fault: 'duplicate-key' })
  }
})

test.each<[what: string, first: string, letter: string]>([
  ['plain', '', 'x'],
  ['with an escape', '\\u0061', 'x'],
  ['of escapes', '', '\\n'],
])('a long key is read in pieces, wherever it stands: %s', (_, first, letter) => {
  const key = (bytes: number) => `"${first}${letter.repeat(bytes / letter.length)}"`
  for (const place of [(json: string) => `{${json}:1}`, (json: string) => `{"a":1,${json}:1}`]) {
    const [few] = count(parseInSteps(encode(place(key(4 * PIECE_BYTES)))))
    const [many, document] = count(parseInSteps(encode(place(key(16 * PIECE_BYTES)))))
    expect(document).toBeInstanceOf(JsonValue)
    expect(few).toBeGreaterThan(2)
    expect(many).toBeGreaterThan(3 * few)
  }
})

test('a key that no interface knows is not decoded', () => {
  const [long, short] = ['n'.repeat(1023), 'n'.repeat(1022)]
  const document = runAtOnce(parseInSteps(encode(`{"${long}":1,"${short}":2,"\\u0061":3}`))) as JsonValue
  const children = document.children()
  const read: string[] = []
  while (children.next() !== undefined) read.push(children.name)
  expect(read).toEqual(['', short, 'a'])
  expect([document.get('a')?.number, document.get('b'), document.get(short)?.number]).toEqual([3, undefined, 2])
})

test('documents that are parsed at the same time, one after the other, or not to their end do not affect each other', () => {
  const text = (word: string, length: number) =>
    JSON.stringify([word, { [word]: [1, 2, 3] }, word.repeat(length), { end: word }])
  const started = ['a', 'b', 'c'].map((word) => parseInSteps(encode(text(word, LONG))))
  const parsed: JsonValue[] = []
  const keep = (result: unknown) => {
    if (result instanceof JsonValue) parsed.push(result)
  }
  // All three are in the middle of their string.
  for (const each of started) each.next()
  keep(runAtOnce(parseInSteps(encode(text('d', 1)))))
  expect(runAtOnce(parseInSteps(encode('[1, 2, {"a": ]')))).toHaveProperty('fault')
  // The second is never finished.
  for (const each of [started[2]!, started[0]!]) keep(count(each)[1])
  keep(runAtOnce(parseInSteps(encode(text('e', 1)))))
  expect(parsed.map(({ elements }) => elements.map((each) => each.get('end')?.text ?? each.text[0]))).toEqual(
    ['d', 'c', 'a', 'e'].map((word) => [word, undefined, word, word]),
  )
})
