import { expect, test } from 'vitest'
import { NO_TOKENS } from '#exchange/llm-facts.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { AnswerEnd, type AnswerEndOptions } from './answer-end.ts'
import type { AnswerError, AnswerSink } from './answer-sink.ts'

const ERROR: AnswerError = { status: 529, type: 'overloaded_error', message: 'busy', code: undefined, param: undefined }

/** What a writer is told, as text. */
class Told implements AnswerSink {
  readonly calls: string[] = []

  start = (id: string, model: string) => this.#add(`start ${id} ${model}`)
  text = (block: number, text: string) => this.#add(`text ${block} ${text}`)
  refusal = (block: number, text: string) => this.#add(`refusal ${block} ${text}`)
  thinking = (block: number, text: string) => this.#add(`thinking ${block} ${text}`)
  signature = (block: number, text: string) => this.#add(`signature ${block} ${text}`)
  redacted = (block: number, data: string) => this.#add(`redacted ${block} ${data}`)
  call = (block: number, id: string, name: string) => this.#add(`call ${block} ${id} ${name}`)
  arguments = (block: number, text: string) => this.#add(`arguments ${block} ${text}`)
  citation = (block: number) => this.#add(`citation ${block}`)
  close = (block: number) => this.#add(`close ${block}`)
  finish = (reason: string, stopSequence = '') => this.#add(`finish ${reason}${stopSequence}`)
  usage = () => this.#add('usage')
  fail = ({ status, message }: AnswerError) => this.#add(`fail ${status} ${message}`)
  end = () => this.#add('end')

  #add(call: string): void {
    this.calls.push(call)
  }
}

const UNBOUNDED: AnswerEndOptions = { claim: undefined, maxKept: 0 }
const USAGE = { ...NO_TOKENS, serviceTier: undefined }

function told(tell: (end: AnswerEnd) => void, options = UNBOUNDED): string[] {
  const sink = new Told()
  tell(new AnswerEnd(sink, options))
  return sink.calls
}

test.each<[says: string, tell: (end: AnswerEnd) => void, calls: string[]]>([
  [
    'open blocks are closed before the end',
    (end) => {
      end.start('i', 'm')
      end.text(0, 'a')
      end.call(1, 'c', 'f')
      end.finish('calls')
      end.usage(USAGE)
      end.end()
    },
    ['start i m', 'text 0 a', 'call 1 c f', 'close 0', 'close 1', 'finish calls', 'usage', 'end'],
  ],
  [
    'an answer begins although the provider did not say so',
    (end) => {
      end.text(0, 'a')
      end.start('i', 'm')
      end.finish('end')
      end.end()
    },
    ['start  ', 'text 0 a', 'close 0', 'finish end', 'end'],
  ],
  [
    'calls with the id of an earlier one have none',
    (end) => {
      for (const [block, id] of ['c', 'd', 'c', '', ''].entries()) end.call(block, id, 'f')
      end.finish('calls')
      end.end()
    },
    [
      ...['start  ', 'call 0 c f', 'call 1 d f', 'call 2  f', 'call 3  f', 'call 4  f'],
      ...['close 0', 'close 1', 'close 2', 'close 3', 'close 4', 'finish calls', 'end'],
    ],
  ],
  [
    'a block that the reason to stop has closed is not closed again',
    (end) => {
      end.text(0, 'a')
      end.finish('end')
      end.close(0)
      end.end()
    },
    ['start  ', 'text 0 a', 'close 0', 'finish end', 'end'],
  ],
  [
    'nothing follows a reason to stop but usage',
    (end) => {
      end.finish('end')
      end.text(0, 'late')
      end.call(1, 'late', 'late')
      end.citation(0, { url: undefined, title: undefined, text: undefined, start: undefined, end: undefined })
      end.finish('length')
      end.usage(USAGE)
      end.end()
      end.end()
      end.usage(USAGE)
    },
    ['start  ', 'finish end', 'usage', 'end'],
  ],
  [
    'an answer without a reason to stop is an error',
    (end) => {
      end.text(0, 'a')
      end.close(0)
      end.end()
    },
    ['start  ', 'text 0 a', 'close 0', "fail 502 the provider's stream ended before the response was complete", 'end'],
  ],
  [
    'an error ends the answer, once',
    (end) => {
      end.thinking(0, 'hm')
      end.signature(0, 's')
      end.fail(ERROR)
      end.fail(ERROR)
      end.text(0, 'late')
      end.close(0)
      end.break()
      end.end()
    },
    ['start  ', 'thinking 0 hm', 'signature 0 s', 'fail 529 busy', 'end'],
  ],
  [
    'a break is an error',
    (end) => {
      end.refusal(0, 'no')
      end.redacted(1, 'x')
      end.break()
    },
    ['start  ', 'refusal 0 no', 'redacted 1 x', "fail 502 the provider's stream was interrupted", 'end'],
  ],
  [
    'a break after the reason to stop is not',
    (end) => {
      end.finish('end')
      end.break()
    },
    ['start  ', 'finish end', 'end'],
  ],
  [
    'an error behind the reason to stop does not take the answer back',
    (end) => {
      end.text(0, 'a')
      end.finish('end')
      end.fail(ERROR)
      end.usage(USAGE)
      end.end()
    },
    ['start  ', 'text 0 a', 'close 0', 'finish end', 'end'],
  ],
  [
    'contents of another kind begin a new block',
    (end) => {
      end.thinking(0, 'a')
      end.signature(0, 's')
      end.text(0, 'b')
      end.refusal(0, 'c')
      end.redacted(0, 'd')
      end.redacted(0, 'e')
      end.call(0, 'i', 'f')
      end.call(0, 'j', 'g')
      end.finish('end')
      end.end()
    },
    [
      'start  ',
      'thinking 0 a',
      'signature 0 s',
      'close 0',
      'text 1 b',
      'refusal 1 c',
      'close 1',
      'redacted 2 d',
      'close 2',
      'redacted 3 e',
      'close 3',
      'call 4 i f',
      'close 4',
      'call 5 j g',
      'close 5',
      'finish end',
      'end',
    ],
  ],
  [
    'contents of a closed block begin a new one',
    (end) => {
      end.text(7, 'a')
      end.close(7)
      end.close(7)
      end.text(7, 'b')
      end.text(-1, 'c')
      end.finish('end')
      end.end()
    },
    ['start  ', 'text 0 a', 'close 0', 'text 1 b', 'text 2 c', 'close 1', 'close 2', 'finish end', 'end'],
  ],
  [
    'arguments belong to a call that is open',
    (end) => {
      end.arguments(0, 'lost')
      end.call(1, 'i', 'f')
      end.arguments(1, '{}')
      end.close(1)
      end.arguments(1, 'lost')
      end.text(2, 'a')
      end.arguments(2, 'lost')
      end.finish('calls')
      end.end()
    },
    ['start  ', 'call 0 i f', 'arguments 0 {}', 'close 0', 'text 1 a', 'close 1', 'finish calls', 'end'],
  ],
])('%s', (_says, tell, calls) => {
  expect(told(tell)).toEqual(calls)
})

test('the ids of a thousand calls are known, and no more', () => {
  const ids = [...Array.from({ length: 1001 }, (_, index) => `c${index}`), 'c999', 'c1000']
  const calls = told((end) => {
    for (const id of ids) end.call(0, id, 'f')
  })
  expect(calls.filter((call) => call.startsWith('call')).slice(-2)).toEqual(['call 1001  f', 'call 1002 c1000 f'])
})

test('a provider cannot fill the memory with open blocks', () => {
  const calls = told((end) => {
    for (let block = 0; block < 5000; block++) end.text(block, 'a')
  })
  expect(calls.filter((call) => call.startsWith('text')).length).toBe(1000)
  expect(calls.slice(-2)).toEqual(["fail 502 the provider's response is too large to be translated", 'end'])
})

test('an answer that its writer keeps is bounded by its length and by the memory', () => {
  const tell = (end: AnswerEnd) => {
    for (let piece = 0; piece < 100; piece++) end.text(0, '0123456789')
  }
  const roomy = new BodyClaim(new BodyMemory(1_000_000))
  const texts = (options: AnswerEndOptions) => told(tell, options).filter((call) => call.startsWith('text')).length
  expect(texts({ claim: roomy, maxKept: 260 })).toBe(10)
  expect(texts({ claim: new BodyClaim(new BodyMemory(130)), maxKept: 10_000 })).toBe(5)
  expect(texts({ claim: roomy, maxKept: 10_000 })).toBe(100)
})

test.each<
  [says: string, tell: (end: AnswerEnd) => void, failure: string | undefined, isCut: boolean, isFinished: boolean]
>([
  ['a complete answer', (end) => end.finish('end'), undefined, false, true],
  ['a reported error', (end) => end.fail(ERROR), 'busy', false, false],
  ['a break', (end) => end.break(), "the provider's stream was interrupted", true, false],
])('%s is known as such', (_says, tell, failure, isCut, isFinished) => {
  const end = new AnswerEnd(new Told(), UNBOUNDED)
  tell(end)
  end.end()
  expect([end.failure?.message, end.isCut, end.isFinished, end.isEnded]).toEqual([failure, isCut, isFinished, true])
})

test('a citation without any text takes the memory of a piece', () => {
  const none = { url: undefined, title: undefined, text: undefined, start: undefined, end: undefined }
  const calls = told(
    (end) => {
      for (let piece = 0; piece < 11; piece++) end.citation(0, none)
    },
    { claim: new BodyClaim(new BodyMemory(160)), maxKept: 1000 },
  )
  expect(calls.filter((call) => call.startsWith('citation')).length).toBe(10)
})
