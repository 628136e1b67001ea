import { expect, test } from 'vitest'
import type { AnswerSink } from '../chat/answer-sink.ts'
import { keepChoices } from '../dialects/completions/keep-answer.ts'
import { MessageBlocks } from '../dialects/completions/message-blocks.ts'
import { KeptAnswer } from '../facts/kept-answer.ts'
import { CallsOfChoices } from './call-numbers.ts'

interface Piece {
  readonly index?: number
  readonly id?: string
  readonly type?: 'function'
  readonly function?: { readonly name?: string; readonly arguments?: string }
  readonly custom?: { readonly name?: string; readonly input?: string }
}

/** Of each chunk, the pieces of calls that it has. */
type Chunks = readonly (readonly Piece[])[]

const piece = (index: number | undefined, id: string | undefined, name: string | undefined, args: string): Piece => ({
  ...(index !== undefined && { index }),
  ...(id !== undefined && { id }),
  type: 'function',
  function: { ...(name !== undefined && { name }), arguments: args },
})

/** Name and arguments of the calls of a client of another API. */
function translatedCalls(chunks: Chunks): string[] {
  const calls = new Map<number, { readonly name: string; text: string }>()
  const own: Partial<AnswerSink> = {
    call: (block, _, name) => calls.set(block, { name, text: '' }),
    arguments: (block, text) => {
      calls.get(block)!.text += text
    },
  }
  const sink = new Proxy(own, { get: (target, name: keyof AnswerSink) => target[name] ?? (() => {}) }) as AnswerSink
  const message = new MessageBlocks(sink)
  for (const tool_calls of chunks) message.add({ tool_calls })
  message.finish('tool_calls')
  return [...calls.values()].map(({ name, text }) => `${name} ${text}`)
}

/** The same for expressions. */
function keptCalls(chunks: Chunks): string[] {
  const kept = new KeptAnswer({ tokens: false, completion: false, toolCalls: true }, 1000)
  const numbers = new CallsOfChoices()
  for (const tool_calls of chunks) keepChoices([{ delta: { tool_calls } }], kept, numbers)
  return kept.toolCalls.map(({ name, arguments: given }) => `${name} ${JSON.stringify(given)}`)
}

test.each<[what: string, chunks: Chunks, calls: readonly string[]]>([
  [
    'by index',
    [
      [piece(0, 'a', 'f', '')],
      [piece(1, 'b', 'g', '{"b"')],
      [piece(0, undefined, undefined, '{"a":1}')],
      [piece(1, '', '', ':2}')],
    ],
    ['f {"a":1}', 'g {"b":2}'],
  ],
  [
    'all 0, with ids',
    [[piece(0, 'a', 'f', '{"a"')], [piece(0, '', undefined, ':1}')], [piece(0, 'b', 'g', '{"b":2}')]],
    ['f {"a":1}', 'g {"b":2}'],
  ],
  [
    'all 0, whose pieces alternate',
    [
      [piece(0, 'a', 'f', '{"a"')],
      [piece(0, 'b', 'g', '{"b"')],
      [piece(0, 'a', '', ':1}')],
      [piece(0, 'b', '', ':2}')],
    ],
    ['f {"a":1}', 'g {"b":2}'],
  ],
  [
    '0, whose id comes later',
    [[piece(0, '', 'f', '{"a"')], [piece(0, 'a', '', ':1}')], [piece(0, 'b', 'g', '{}')]],
    ['f {"a":1}', 'g {}'],
  ],
  [
    'not at all, with ids',
    [[piece(undefined, 'a', 'f', '{"a":1}')], [piece(undefined, 'b', 'f', '{"b":2}')]],
    ['f {"a":1}', 'f {"b":2}'],
  ],
  [
    'not at all, in one chunk',
    [[piece(undefined, 'a', 'f', '{"a":1}'), piece(undefined, 'b', 'f', '{}')]],
    ['f {"a":1}', 'f {}'],
  ],
  [
    'not at all, without ids',
    [[piece(undefined, '', 'f', '{"a":1}')], [piece(undefined, undefined, 'f', '{"b":2}')]],
    ['f {"a":1}', 'f {"b":2}'],
  ],
  [
    'not at all, in one chunk without ids',
    [[piece(undefined, '', 'f', '{"a":1}'), piece(undefined, '', 'g', '{}')]],
    ['f {"a":1}', 'g {}'],
  ],
  [
    'not at all, in pieces',
    [
      [piece(undefined, 'a', 'f', '')],
      [piece(undefined, undefined, undefined, '{"a"')],
      [piece(undefined, '', '', ':1}')],
      [piece(undefined, 'b', 'g', '{"b"')],
      [piece(undefined, undefined, undefined, ':2}')],
    ],
    ['f {"a":1}', 'g {"b":2}'],
  ],
  [
    'not at all, in pieces with ids that alternate',
    [
      [piece(undefined, 'a', 'f', '{"a"')],
      [piece(undefined, 'b', 'g', '{"b"')],
      [piece(undefined, 'a', undefined, ':1}')],
      [piece(undefined, 'b', 'g', ':2}')],
    ],
    ['f {"a":1}', 'g {"b":2}'],
  ],
  [
    'by their first pieces only',
    [[piece(1, 'a', 'f', '{"a"')], [piece(undefined, undefined, undefined, ':1}')]],
    ['f {"a":1}'],
  ],
])('calls are told apart that are numbered %s', (_, chunks, calls) => {
  expect(translatedCalls(chunks)).toEqual(calls)
  expect(keptCalls(chunks)).toEqual(calls)
})

test('a name may come after arguments', () => {
  const chunks = [
    [piece(undefined, undefined, undefined, '{"a"')],
    [piece(undefined, undefined, 'f', ':1}')],
    [piece(undefined, undefined, 'g', '{}')],
  ]
  expect(translatedCalls(chunks)).toEqual(['f {"a":1}', 'g {}'])
})

test('a text tool is told apart by its name, too', () => {
  const chunks = [
    [{ custom: { name: 'f', input: 'a' } }],
    [{ custom: { input: 'b' } }],
    [{ custom: { name: 'f', input: 'c' } }],
  ]
  expect(translatedCalls(chunks)).toEqual(['f {"input":"ab"}', 'f {"input":"c"}'])
})

test('each choice has its own calls', () => {
  const kept = new KeptAnswer({ tokens: false, completion: false, toolCalls: true }, 1000)
  const numbers = new CallsOfChoices()
  const choice = (index: number, args: string, name?: string) =>
    keepChoices([{ index, delta: { tool_calls: [piece(undefined, undefined, name, args)] } }], kept, numbers)
  choice(0, '{"a"', 'f')
  choice(1, '{"b"', 'g')
  choice(0, ':1}')
  choice(1, ':2}')
  expect(kept.toolCalls.map(({ arguments: given }) => given)).toEqual([{ a: 1 }, { b: 2 }])
})

test('the calls of 128 choices are told apart', () => {
  const numbers = new CallsOfChoices()
  const known = Array.from({ length: 129 }, (_, choice) => numbers.of(choice))
  expect([numbers.of(0) === known[0], numbers.of(127) === known[127], numbers.of(128) === known[128]]).toEqual([
    true,
    true,
    false,
  ])
})

test('pieces of 256 calls may alternate, and calls before them are not searched', () => {
  const begins = Array.from({ length: 257 }, (_, i) => [piece(i, `id-${i}`, 'f', '{')])
  const calls = translatedCalls([
    ...begins,
    [piece(1, undefined, undefined, '}')],
    [piece(0, undefined, undefined, '}')],
  ])
  expect(calls.slice(0, 3)).toEqual(['f {', 'f {}', 'f {'])
})
