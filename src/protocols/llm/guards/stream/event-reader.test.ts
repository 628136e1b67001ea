import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { seededRandom } from '#test/support/seeded-random.ts'
import type { ChatType } from '../../dialects/index.ts'
import { encode } from '../../json/splice.ts'
import { EventReader } from './event-reader.ts'

type Seen = readonly (readonly string[])[] | 'unreadable'

function reading(format: ChatType): (data: Uint8Array) => Seen {
  let seen: string[][] = []
  const reader = new EventReader(format, {
    text({ block, kind, form, place: { canChange } }, original, { start, end }) {
      seen.push([block, kind, form, String(canChange), original, `${start}-${end}`])
      return undefined
    },
    replace({ start, end }, json) {
      seen.push(['replaced', json, `${start}-${end}`])
    },
    *close(blocks) {
      yield
      for (const block of blocks) seen.push(['closes', block])
    },
  })
  return (data) => {
    seen = []
    // Events arrive within other bytes.
    const memory = new Uint8Array(data.length + 14).fill(0x61)
    memory.set(data, 7)
    const read = reader.read(memory.subarray(3, -3), 4, 4 + data.length)
    return (typeof read === 'boolean' ? read : runAtOnce(read)) ? seen : 'unreadable'
  }
}

const CHUNK = {
  id: 'c',
  created: 1,
  choices: [{ index: 0, delta: { content: ' a' }, finish_reason: null as string | null }],
  obfuscation: 'x',
}
const DELTA = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' a' } }
const TEXT = { type: 'response.output_text.delta', sequence_number: 9, output_index: 0, content_index: 0 }

/** What follows the first event. */
const EVENTS: Readonly<Record<ChatType, readonly unknown[]>> = {
  Completions: [
    CHUNK,
    { ...CHUNK, choices: [{ index: 0, delta: { content: ' "b" \\ \n é 𝒳' }, finish_reason: null }] },
    { ...CHUNK, created: 22, obfuscation: '' },
    { ...CHUNK, created: '3 words here' },
    { ...CHUNK, obfuscation: 'ab"c' },
    { ...CHUNK, obfuscation: { a: 'b' } },
    { ...CHUNK, choices: [{ index: 1, delta: { content: ' a' }, finish_reason: null }] },
    { ...CHUNK, choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop' }] },
    { ...CHUNK, choices: [{ index: 0, delta: { refusal: ' a' }, finish_reason: null }] },
    { ...CHUNK, choices: [{ index: 0, delta: { content: ' a', more: 'b' }, finish_reason: null }] },
    { ...CHUNK, choices: [{ index: 0, delta: { content: { text: 'a' } }, finish_reason: null }] },
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '{"a' } }] } }] },
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '":"b"}' } }] } }] },
    { choices: [{ index: 0, delta: { content: [{ image_url: { url: 'data:text/plain;base64,YQ==' } }] } }] },
    { choices: [{ index: 0, delta: { content: [{ image_url: { url: 'data:image/png;base64,YQ==' } }] } }] },
    { choices: [{ index: 0, delta: { content: [{ image_url: { url: 'data:text/plain;base64,?' } }] } }] },
  ],
  Messages: [
    DELTA,
    { ...DELTA, delta: { type: 'text_delta', text: 'b' } },
    { ...DELTA, index: 1 },
    { ...DELTA, obfuscation: 'a text' },
    { ...DELTA, delta: { type: 'input_json_delta', partial_json: '{"a' } },
    { ...DELTA, delta: { type: 'input_json_delta', partial_json: '":1}' } },
    { ...DELTA, delta: { type: 'thinking_delta', thinking: 'a' } },
    { ...DELTA, delta: { type: 'thinking_delta', thinking: 'b' } },
    { type: 'content_block_stop', index: 0 },
  ],
  Responses: [
    { ...TEXT, delta: ' a' },
    { ...TEXT, sequence_number: 10, delta: ' b', obfuscation: 'y' },
    { ...TEXT, sequence_number: 11, delta: ' c', obfuscation: 'yyy' },
    { ...TEXT, sequence_number: 'a text', delta: ' c', obfuscation: 'yyy' },
    { ...TEXT, output_index: 1, delta: ' c', obfuscation: 'yyy' },
    { ...TEXT, type: 'response.output_text.done', text: ' a' },
  ],
}

const FORMATS = Object.keys(EVENTS) as ChatType[]

test.each(FORMATS)('%s: what came before does not change how an event is read', (format) => {
  for (const first of EVENTS[format]) {
    for (const second of EVENTS[format]) {
      const read = reading(format)
      read(encode(JSON.stringify(first)))
      const data = encode(JSON.stringify(second))
      expect(read(data)).toEqual(reading(format)(data))
    }
  }
})

test.each(FORMATS)('%s: an event with any one byte changed is read like by itself', (format) => {
  const original = encode(JSON.stringify(EVENTS[format][0]))
  const read = reading(format)
  for (let at = 0; at < original.length; at++) {
    read(original)
    const data = original.slice()
    data[at] = data[at]! ^ 1
    expect(read(data), String(at)).toEqual(reading(format)(data))
  }
})

/** Whether an event is read without being parsed, because it is like the first. */
function isLike(first: string, second: string): boolean {
  const reader = new EventReader('Completions', { text: () => undefined, replace() {}, *close() {} })
  const read = (data: Uint8Array) => {
    const outcome = reader.read(data, 0, data.length)
    return typeof outcome === 'boolean' || !runAtOnce(outcome)
  }
  expect(read(encode(first))).toBe(false)
  return read(encode(second))
}

const FIRST = JSON.stringify(CHUNK)

test.each<[what: string, from: string, to: string, isLike: boolean]>([
  ['the same', 'x', 'x', true],
  ['another text', ' a', ' another', true],
  ['another number', '1', '20', true],
  ['zero', '1', '0', true],
  ['nine', '1', '9', true],
  ['other padding', '"x"', '"yyy"', true],
  ['another choice', '"index":0', '"index":1', false],
  ['another id', '"c"', '"d"', false],
  ['a fraction', '"created":1', '"created":1.5', false],
])('an event with %s is read without parsing it, if it is like the first', (_, from, to, like) => {
  expect(isLike(FIRST, FIRST.replace(from, to))).toBe(like)
})

test('a text file in an event is checked as it reads, and cannot be changed', () => {
  const url = (data: string) => `data:text/plain;base64,${btoa(data)}`
  const event = { choices: [{ index: 0, delta: { content: [{ image_url: { url: url('a bad text') } }] } }] }
  const block = 'choices[0].delta.content[0].image_url.url'
  const seen = reading('Completions')(encode(JSON.stringify(event)))
  expect(seen).toMatchObject([[block, 'delta', 'string', 'false', 'a bad text', expect.any(String)]])
})

test.each(['01', '00', '1x', ''])('a number that is %j makes an event unreadable', (created) => {
  const read = reading('Completions')
  read(encode(FIRST))
  expect(read(encode(FIRST.replace('"created":1', `"created":${created}`)))).toBe('unreadable')
})

test.each(['\x01', '\\x', '\\u12'])('padding that is no JSON makes an event unreadable: %j', (padding) => {
  const read = reading('Completions')
  read(encode(FIRST))
  expect(read(encode(FIRST.replace('"x"', `"${padding}"`)))).toBe('unreadable')
})

test.each(FORMATS)('%s: an event with other bytes is read like by itself', (format) => {
  const { below, pick } = seededRandom(7)
  const read = reading(format)
  for (let round = 0; round < sampleSize(1_000, 5_000); round++) {
    const original = encode(JSON.stringify(EVENTS[format][round % 3]))
    read(original)
    const data = original.slice()
    data[below(data.length)] = pick([0x22, 0x5c, 0x01, 0x7f, 0x30, 0x31, 0x2c, 0x7d, 0x20, 0x61, 0xc3])
    const cut = below(5) === 0 ? data.subarray(0, below(data.length)) : data
    expect(read(cut), String(round)).toEqual(reading(format)(cut))
  }
})

test.each([0x80, 0xc3, 0xff])('a text with a byte %i, which is not UTF-8, is unreadable in every event', (byte) => {
  const valid = encode(JSON.stringify(CHUNK))
  const invalid = Buffer.from(valid)
  invalid[invalid.indexOf(' a') + 1] = byte
  const read = reading('Completions')
  expect(read(invalid)).toBe('unreadable')
  expect(read(valid)).not.toBe('unreadable')
  expect(read(invalid)).toBe('unreadable')
})
