import { expect, test } from 'vitest'
import { NO_LLM, NO_TOKENS } from '#exchange/llm-facts.ts'
import type { AnswerSink, StopReason } from '../chat/answer-sink.ts'
import { TargetNames } from '../chat/target-names.ts'
import { toldAnswer } from '../testing.ts'
import { ObservedAnswer } from './observed-answer.ts'

const nothing = () => {}
const SINK: AnswerSink = {
  start: nothing,
  text: nothing,
  refusal: nothing,
  thinking: nothing,
  signature: nothing,
  redacted: nothing,
  call: nothing,
  arguments: nothing,
  citation: nothing,
  close: nothing,
  finish: nothing,
  usage: nothing,
  fail: nothing,
  end: nothing,
}

test.each<[reason: StopReason, word: string]>([
  ['end', 'stop'],
  ['calls', 'tool_calls'],
  ['context', 'length'],
  ['refusal', 'content_filter'],
])('facts of a translated answer that ended with %s', (reason, word) => {
  const facts = { ...NO_LLM }
  const answer = new ObservedAnswer(SINK, {
    facts,
    kept: undefined,
    names: new TargetNames([]),
    startMonotonicMs: 0,
    begun: () => {},
  })
  answer.start('', '')
  expect(facts).toMatchObject({ responseId: undefined, responseModel: undefined })
  answer.start('msg_1', 'claude-x')
  answer.finish(reason)
  expect(facts).toMatchObject({ responseId: 'msg_1', responseModel: 'claude-x', finishReasons: [word] })
})

test.each([
  { streaming: true, isTimed: true },
  { streaming: false, isTimed: false },
])('the first token of a translated answer is timed: $isTimed, streaming: $streaming', ({ streaming, isTimed }) => {
  const facts = { ...NO_LLM, streaming }
  const names = new TargetNames([])
  const answer = new ObservedAnswer(SINK, { facts, kept: undefined, names, startMonotonicMs: 0, begun: nothing })
  answer.text(0, 'hello')
  expect(facts.timeToFirstTokenMs !== undefined).toBe(isTimed)
})

test('all of an answer goes on, with the name that the client gave its tool', () => {
  const { sink, told } = toldAnswer()
  const names = new TargetNames([])
  const sent = names.name('a tool')
  const answer = new ObservedAnswer(sink, {
    facts: { ...NO_LLM },
    kept: undefined,
    names,
    startMonotonicMs: 0,
    begun: nothing,
  })
  const citation = { url: 'https://a/', title: undefined, text: undefined, start: undefined, end: undefined }
  const usage = { ...NO_TOKENS, serviceTier: undefined }
  const error = { status: 502, type: undefined, message: 'm', code: undefined, param: undefined }
  const calls: unknown[][] = [
    ['start', 'i', 'm'],
    ['thinking', 0, 'a'],
    ['signature', 0, 'b'],
    ['redacted', 1, 'c'],
    ['text', 2, 'd'],
    ['citation', 2, citation],
    ['refusal', 3, 'e'],
    ['call', 4, 'id', sent],
    ['arguments', 4, '{}'],
    ['close', 4],
    ['finish', 'stop-sequence', 'f'],
    ['usage', usage],
    ['fail', error],
    ['end'],
  ]
  for (const [name, ...given] of calls) (answer[name as keyof AnswerSink] as (...all: unknown[]) => void)(...given)
  expect(told).toEqual(calls.map((call) => (call[0] === 'call' ? ['call', 4, 'id', 'a tool'] : call)))
})
