import { expect, onTestFinished, test, vi } from 'vitest'
import { runAtOnce, type Steps } from '#base/in-slices.ts'
import { PROVIDER_DIALECTS } from '../dialects/index.ts'
import { readCountablePrompt } from '../dialects/messages/countable-prompt.ts'
import { JsonChildren, JsonValue, parseDocument } from '../json/json-document.ts'
import { encode } from '../json/splice.ts'
import { writeInSteps } from '../json/write-json.ts'
import { CLIENT_DIALECTS } from '../testing.ts'
import type { Conversation, Part } from './conversation.ts'
import type { ClientDialect, ProviderDialect } from './dialect.ts'
import { Loops } from './loops.ts'
import { Losses } from './losses.ts'
import { TargetNames } from './target-names.ts'

// Requests of other clients wait for the work between two yields. It is counted here, in looks at parts: a machine may be slow.

/** Twice as many as one step may look at. */
const COUNT = 4096
/** Parts between two yields; a loop may look at a part several times. */
const MOST = 256
const LOOKS = 8

/** The most looks between two yields. */
function mostPerStep(work: Steps<unknown>, looks: () => number): number {
  let most = 0
  for (let before = looks(), isOver = false; !isOver; before = looks()) {
    isOver = work.next().done === true
    most = Math.max(most, looks() - before)
  }
  return most
}

const listOf = <Element>(element: (index: number) => Element) => Array.from({ length: COUNT }, (_, i) => element(i))
const texts = (type: string) => listOf(() => ({ type, text: 'a' }))
const chat = (...messages: object[]) => ({ model: 'm', max_tokens: 1, messages })
const items = (...input: object[]) => ({ model: 'm', input })
const user = (content: unknown) => ({ role: 'user', content })
const schema = { type: 'object' }

const call = (id: string) => ({ id, type: 'function', function: { name: 't', arguments: '{}' } })
const use = (id: string) => ({ type: 'tool_use', id, name: 't', input: {} })
const callItem = (call_id: string) => ({ type: 'function_call', call_id, name: 't', arguments: '{}' })

const REQUESTS: readonly (readonly [what: string, dialect: 'completions' | 'messages' | 'responses', body: object])[] =
  [
    ['parts', 'completions', chat(user(texts('text')))],
    ['messages', 'completions', chat(...listOf((i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: 'a' })))],
    ['calls', 'completions', chat({ role: 'assistant', tool_calls: listOf((i) => call(`c${i}`)) })],
    [
      'parts of a result',
      'completions',
      chat({ role: 'assistant', tool_calls: [call('c')] }, { role: 'tool', tool_call_id: 'c', content: texts('text') }),
    ],
    [
      'tools',
      'completions',
      {
        ...chat(user('a')),
        tools: listOf((i) => ({ type: 'function', function: { name: `t${i}`, parameters: schema } })),
      },
    ],
    ['stop sequences', 'completions', { ...chat(user('a')), stop: listOf(() => 'a') }],
    ['parts', 'messages', chat(user(texts('text')))],
    ['messages', 'messages', chat(...listOf((i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: 'a' })))],
    ['calls', 'messages', chat({ role: 'assistant', content: listOf((i) => use(`c${i}`)) })],
    [
      'parts of a result',
      'messages',
      chat(
        { role: 'assistant', content: [use('c')] },
        user([{ type: 'tool_result', tool_use_id: 'c', content: texts('text') }]),
      ),
    ],
    [
      'parts of a document',
      'messages',
      chat(user([{ type: 'document', source: { type: 'content', content: texts('text') } }])),
    ],
    [
      'texts of a search result',
      'messages',
      chat(user([{ type: 'search_result', title: 't', source: 's', content: texts('text') }])),
    ],
    ['system texts', 'messages', { ...chat(user('a')), system: texts('text') }],
    ['tools', 'messages', { ...chat(user('a')), tools: listOf((i) => ({ name: `t${i}`, input_schema: schema })) }],
    ['stop sequences', 'messages', { ...chat(user('a')), stop_sequences: listOf(() => 'a') }],
    ['parts', 'responses', items(user(texts('input_text')))],
    ['messages', 'responses', items(...listOf(() => user('a')))],
    ['texts of the model', 'responses', items({ role: 'assistant', content: texts('output_text') })],
    ['calls', 'responses', items(...listOf((i) => callItem(`c${i}`)))],
    [
      'parts of a result',
      'responses',
      items(callItem('c'), { type: 'function_call_output', call_id: 'c', output: texts('input_text') }),
    ],
    ['texts of a thought', 'responses', items({ type: 'reasoning', summary: texts('summary_text') })],
    [
      'tools',
      'responses',
      { ...items(user('a')), tools: listOf((i) => ({ type: 'function', name: `t${i}`, parameters: schema })) },
    ],
  ]

function parsed(body: object): JsonValue {
  const value = parseDocument(encode(JSON.stringify(body)))
  if (!(value instanceof JsonValue)) throw new Error(value.fault)
  return value
}

test.each(REQUESTS)('many %s of a request of %s are read in steps', (_what, name, body) => {
  const dialect: ClientDialect = CLIENT_DIALECTS[name]!
  const next = vi.spyOn(JsonChildren.prototype, 'next')
  onTestFinished(() => next.mockRestore())
  const most = mostPerStep(dialect.readRequest(parsed(body), new Losses()), () => next.mock.calls.length)
  expect(next.mock.calls.length).toBeGreaterThanOrEqual(COUNT)
  expect(most).toBeLessThanOrEqual(2 * MOST)
})

test.each(
  REQUESTS.filter(([what, dialect]) => dialect === 'messages' && (what === 'messages' || what.startsWith('parts'))),
)('the texts of many %s are collected in steps, to count their tokens', (_what, _dialect, body) => {
  const next = vi.spyOn(JsonChildren.prototype, 'next')
  onTestFinished(() => next.mockRestore())
  const most = mostPerStep(readCountablePrompt(parsed(body)), () => next.mock.calls.length)
  expect(next.mock.calls.length).toBeGreaterThanOrEqual(COUNT)
  expect(most).toBeLessThanOrEqual(2 * MOST)
})

/** What takes time for each part, other than what decides about it. */
const WRITTEN_MEMBERS = ['text', 'input', 'parameters']

/** The same conversation, whose parts and tools count the looks at their texts. */
function counted(conversation: Conversation, look: () => void): Conversation {
  const watch = <Value extends object>(value: Value): Value =>
    new Proxy(value, {
      get(target, name) {
        if (typeof name === 'string' && WRITTEN_MEMBERS.includes(name)) look()
        const found = Reflect.get(target, name) as unknown
        return name === 'parts' ? (found as Part[]).map(watch) : found
      },
    })
  const turns = conversation.turns.map((turn) => ({ ...turn, parts: turn.parts.map(watch) }))
  return { ...conversation, turns, tools: conversation.tools.map(watch) }
}

const WRITTEN = REQUESTS.flatMap(([what, from, body]) => {
  if (what === 'stop sequences' || what.startsWith('texts of a ')) return []
  return (['completions', 'messages', 'converse'] as const)
    .filter((to) => to !== from)
    .map((to) => [what, from, to, body] as const)
})

test.each(WRITTEN)('many %s of a request of %s are written for a provider of %s in steps', (_what, from, to, body) => {
  const dialect: ProviderDialect = PROVIDER_DIALECTS[to]!
  const conversation = runAtOnce(CLIENT_DIALECTS[from]!.readRequest(parsed(body), new Losses()))
  let looks = 0
  const watched = counted(conversation, () => looks++)
  const names = new TargetNames(conversation.tools.map(({ name }) => name))
  const most = mostPerStep(dialect.writeRequest(watched, { names, body: new Uint8Array() }, new Losses()), () => looks)
  expect(looks).toBeGreaterThanOrEqual(COUNT)
  expect(most).toBeLessThanOrEqual(LOOKS * MOST)
})

test.each(['completions', 'messages', 'converse'] as const)('long schemas are written for %s one by one', (to) => {
  const properties = { a: { type: 'string', description: 'x'.repeat(100_000) } }
  const parameters = { properties, anyOf: [{ required: ['a'] }] }
  const tools = Array.from({ length: 8 }, (_, i) => ({ type: 'function', name: `t${i}`, parameters }))
  const conversation = runAtOnce(
    CLIENT_DIALECTS.responses!.readRequest(parsed({ ...items(user('a')), tools }), new Losses()),
  )
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  const target = { names: new TargetNames([]), body: new Uint8Array() }
  const work = PROVIDER_DIALECTS[to]!.writeRequest(conversation, target, new Losses())
  expect(mostPerStep(work, () => parse.mock.calls.length)).toBe(1)
  expect(parse).toHaveBeenCalledTimes(8)
})

test('the bytes of a body with many parts are written in steps', () => {
  let looks = 0
  class Block {
    readonly type = 'text'
    constructor() {
      Object.defineProperty(this, 'text', { enumerable: true, get: () => (looks++ < 0 ? 'b' : 'a') })
    }
  }
  const body = { model: 'm', messages: [{ role: 'user', content: listOf(() => new Block()) }] }
  expect(mostPerStep(writeInSteps(body), () => looks)).toBeLessThanOrEqual(MOST)
  expect(new TextDecoder().decode(runAtOnce(writeInSteps(body)))).toBe(JSON.stringify(body))
})

test.each([1, 7, 256, 257, 1000])('loops inside of loops run in the order of plain ones, %i elements each', (count) => {
  const order: string[] = []
  const loops = new Loops()
  const list = Array.from({ length: count }, (_, i) => i)
  const few = list.slice(0, 3)
  loops.each(few, (outer) => {
    loops.each(list, (inner) => order.push(`${outer}.${inner}`))
    loops.each(few, (inner) => {
      loops.each(few, (deep) => order.push(`${outer}.${inner}.${deep}`))
      loops.after(() => order.push(`after ${outer}.${inner}`))
    })
    loops.after(() => order.push(`after ${outer}`))
  })
  loops.after(() => order.push('after'))
  expect(loops.areWaiting).toBe(count > 200)
  runAtOnce(loops.rest())
  const plain = few.flatMap((outer) => [
    ...list.map((inner) => `${outer}.${inner}`),
    ...few.flatMap((inner) => [...few.map((deep) => `${outer}.${inner}.${deep}`), `after ${outer}.${inner}`]),
    `after ${outer}`,
  ])
  expect(order).toEqual([...plain, 'after'])
  expect(loops.areWaiting).toBe(false)
})
