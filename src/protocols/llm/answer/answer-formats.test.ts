import { expect, test } from 'vitest'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { KeptAnswer } from '../facts/kept-answer.ts'
import type { StreamError } from '../facts/stream-error.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { answerReader, isSuccess, keepAnswer, streamOf } from './answer-formats.ts'
import type { ResponsePlan } from './response-plan.ts'

const ALL = { tokens: false, completion: true, toolCalls: true }
const newKept = () => new KeptAnswer(ALL, 10_000)

/** The facts of a whole answer, and the errors in it. */
function read(wire: RouteType, answer: object | string, kept?: KeptAnswer) {
  const facts: LlmFacts = { ...NO_LLM }
  const errors: StreamError[] = []
  const plan = { wire, kept } as ResponsePlan
  const reader = answerReader(plan, facts, roomFor(2 ** 20).claim, (error) => errors.push(error))
  reader?.push(Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)))
  return { facts, errors, isRead: reader !== undefined }
}

test.each<RouteType>(['Completions', 'Messages', 'Responses', 'Embeddings'])(
  '%s: the id, the model and the tier, in any order, each from its own member',
  (wire) => {
    const members = { object: 'o', id: 'i', model: 'm', service_tier: 's', other: 'x' }
    const expected = { responseId: 'i', responseModel: 'm', serviceTier: 's' }
    expect(read(wire, members).facts).toMatchObject(expected)
    expect(read(wire, Object.fromEntries(Object.entries(members).reverse())).facts).toMatchObject(expected)
    expect(read(wire, { id: 1, model: null, service_tier: {} }).facts).toMatchObject({
      ...{ responseId: undefined, responseModel: undefined, serviceTier: undefined },
    })
  },
)

test.each<[wire: RouteType, answer: object, finishReasons: string[]]>([
  ['Completions', { choices: [{ finish_reason: 'stop' }, { finish_reason: 'length' }] }, ['stop', 'length']],
  ['Messages', { stop_reason: 'end_turn', content: [{ type: 'text', text: 'a', finish_reason: 'x' }] }, ['end_turn']],
  ['Responses', { status: 'completed', output: [{ finish_reason: 'x' }] }, ['completed']],
  ['Responses', { status: 'incomplete', incomplete_details: { reason: 'cut' } }, ['cut']],
  ['Embeddings', { stop_reason: 'x', status: 'completed', choices: [{ finish_reason: 'x' }] }, []],
])('%s: why the model stopped: %j', (wire, answer, finishReasons) => {
  expect(read(wire, answer).facts.finishReasons).toEqual(finishReasons)
  expect(read(wire, answer, newKept()).facts.finishReasons).toEqual(finishReasons)
})

test.each<[answer: object, facts: Partial<LlmFacts>]>([
  [{ id: 'i' }, { responseId: 'i' }],
  [{ responseId: 'i' }, { responseId: 'i' }],
  [{ response: { id: 'i' } }, { responseId: 'i' }],
  [{ message: { id: 'i' } }, { responseId: 'i' }],
  [{ model: 'm' }, { responseModel: 'm' }],
  [{ modelVersion: 'm' }, { responseModel: 'm' }],
  [{ metadata: { model: 'm' } }, { responseModel: 'm' }],
  [{ service_tier: 's' }, { serviceTier: 's' }],
  [{ usage: { prompt_tokens: 1 } }, { inputTokens: 1 }],
  [{ usageMetadata: { promptTokenCount: 1 } }, { inputTokens: 1 }],
  [{ stop_reason: 'x' }, { finishReasons: ['x'] }],
  [{ stopReason: 'x' }, { finishReasons: ['x'] }],
  [{ choices: [{ finish_reason: 'x' }] }, { finishReasons: ['x'] }],
  [{ candidates: [{ finishReason: 'x' }] }, { finishReasons: ['x'] }],
  [{ object: 'response', status: 'completed' }, { finishReasons: ['completed'] }],
  [{ object: 'response', status: 'incomplete', incomplete_details: { reason: 'x' } }, { finishReasons: ['x'] }],
  [{ object: 'other', status: 'completed' }, { finishReasons: [] }],
])('facts of a whole answer of unknown format: %j', (answer, facts) => {
  expect(read('Detect', answer).facts).toMatchObject(facts)
})

test('each dialect has its own counts', () => {
  const tokens = (wire: RouteType, answer: object) => {
    const { inputTokens, outputTokens, countTokens } = read(wire, answer).facts
    return [inputTokens, outputTokens, countTokens]
  }
  const chat = { usage: { prompt_tokens: 1, completion_tokens: 2 } }
  const native = { usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } }
  expect(tokens('Completions', chat)).toEqual([1, 2, undefined])
  expect(tokens('Embeddings', chat)[0]).toBe(1)
  expect(tokens('Responses', native)).toEqual([3, 4, undefined])
  expect(tokens('Messages', native)).toEqual([3, 4, undefined])
  expect(tokens('MessagesTokenCount', { input_tokens: 5, usage: { input_tokens: 6 } })).toEqual([
    ...[undefined, undefined, 5],
  ])
  expect(tokens('Detect', chat)).toEqual([1, 2, undefined])
})

test('an error in an answer is told, unless it is empty', () => {
  expect(read('Completions', { error: { type: 'overloaded_error' } }).errors).toMatchObject([
    { type: 'overloaded_error' },
  ])
  for (const error of [null, false, '']) expect(read('Completions', { error }).errors).toEqual([])
})

test('answers without a format are not read', () => {
  expect(read('Realtime', {}).isRead).toBe(false)
  expect(read('Realtime', {}, newKept()).isRead).toBe(false)
  const kept = newKept()
  keepAnswer('Realtime', Buffer.from('{"choices":[{"message":{"content":"a"}}]}'), kept)
  expect(kept.completion).toEqual([])
})

const INPUT = '{"n":12345678901234567890}'
const KEPT: readonly (readonly [wire: RouteType, answer: string])[] = [
  [
    'Completions',
    `{"choices":[{"message":{"content":"a","tool_calls":[{"id":"c","function":{"name":"f","arguments":${JSON.stringify(INPUT)}}}]}}]}`,
  ],
  ['Messages', `{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c","name":"f","input":${INPUT}}]}`],
  [
    'Responses',
    `{"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"function_call","call_id":"c","name":"f","arguments":${JSON.stringify(INPUT)}}]}`,
  ],
]

test.each(KEPT)('%s: texts and calls are kept, with exact numbers', (wire, answer) => {
  const expected = `[["a"],[{"id":"c","name":"f","arguments":${INPUT}}]]`
  const [one, other] = [newKept(), newKept()]
  read(wire, answer, one)
  expect(JSON.stringify([one.completion, one.toolCalls])).toBe(expected)
  keepAnswer(wire, Buffer.from(answer), other)
  expect(JSON.stringify([other.completion, other.toolCalls])).toBe(expected)
})

test.each([
  [199, false],
  [200, true],
  [299, true],
  [300, false],
])('the status %i is a success: %j', (status, is) => {
  expect(isSuccess(Head.response(status))).toBe(is)
})

test('each stream has a format of its own', () => {
  const types = ['Completions', 'Messages', 'Responses', 'Detect'] as const
  for (const type of types) expect(streamOf(type)).not.toBe(streamOf(type))
  expect(streamOf('Embeddings')).toBeUndefined()
})
