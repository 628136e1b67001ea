import { expect, test } from 'vitest'
import { NO_LLM } from '#exchange/llm-facts.ts'
import type { AnswerSink, StopReason } from './answer-sink.ts'
import { ObservedAnswer } from './observed-answer.ts'
import { TargetNames } from './target-names.ts'

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
