import { afterEach, beforeEach, expect, test } from 'vitest'
import { GuardLoad } from '#exchange/guard-load.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { exchangeWith, runContext } from '#policies/shared/testing.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import type { ServiceGuard } from '../guard.ts'
import type { ServiceVerdict } from '../services/service.ts'
import { ServiceStage } from './service-stage.ts'

let time: VirtualTime
beforeEach(() => {
  time = new VirtualTime()
})
afterEach(() => time[Symbol.dispose]())

const PASS: ServiceVerdict = { kind: 'pass' }

interface Asked {
  readonly content: string
  /** Of the guard. */
  readonly index: number
  readonly signal: AbortSignal
  answer(verdict: ServiceVerdict): Promise<void>
}

/** A stage whose services answer when the test says so. */
function stageWith({ masks = false, isFixed = false, services = 1 } = {}) {
  const asked: Asked[] = []
  const released: (readonly [tag: number, text: string])[] = []
  const refused: Refusal[] = []
  const counts = { finished: 0, progressed: 0 }
  let leave = () => {}
  const exchange = exchangeWith()
  exchange.context = runContext({
    whenOver: (over) => {
      leave = over
    },
  })
  exchange.response = Head.response(200)
  const guards = Array.from(
    { length: services },
    (_, index): ServiceGuard => ({
      kind: 'webhook',
      phase: 'response',
      index,
      refusal: reject('prompt-guard-rejected', { status: 403, body: 'no' }),
      service: {
        kind: 'webhook',
        destination: 'ProxyBackend/default/judge',
        masks,
        judge: ({ messages, phase }, { signal }) => {
          expect(phase).toBe('response')
          expect(messages).toHaveLength(1)
          expect(messages[0]!.role).toBe('assistant')
          return new Promise((resolve) =>
            asked.push({
              content: messages[0]!.content,
              index,
              signal,
              answer: async (verdict) => {
                resolve(verdict)
                await time.pass(0)
              },
            }),
          )
        },
      },
    }),
  )
  const out = {
    text: (tag: number, text: string) => void released.push([tag, text]),
    finish: () => void counts.finished++,
  }
  const over = new AbortController()
  const stage = new ServiceStage<number>(out, {
    guards,
    isFixed,
    exchange,
    signal: over.signal,
    refuse: (refusal) => void refused.push(refusal),
    progressed: () => void counts.progressed++,
  })
  return {
    stage,
    asked,
    released,
    refused,
    counts,
    exchange,
    leave: () => leave(),
    endStream: () => over.abort(),
    contents: () => asked.map(({ content }) => content),
  }
}

test('a window is 1,024 bytes of new text, in UTF-8, or what came before a pause of 500 ms', async () => {
  const { stage, contents } = stageWith()
  stage.text(1, 'a'.repeat(1023))
  expect(contents()).toEqual([])
  stage.text(2, 'b')
  expect(contents()).toEqual([`${'a'.repeat(1023)}b`])
  const other = stageWith()
  other.stage.text(1, 'é'.repeat(512))
  expect(other.contents()).toEqual(['é'.repeat(512)])
  const slow = stageWith()
  slow.stage.text(1, 'one ')
  await time.pass(499)
  slow.stage.text(2, 'two')
  await time.pass(499)
  expect(slow.contents()).toEqual([])
  await time.pass(1)
  expect(slow.contents()).toEqual(['one two'])
  await time.pass(10_000)
  expect(slow.contents()).toEqual(['one two'])
})

test('text waits for a window at most 2 seconds, if it comes slowly and without a pause', async () => {
  const { stage, asked, contents } = stageWith()
  for (let n = 0; n < 11; n++) {
    expect(contents()).toEqual([])
    stage.text(n, `${n} `)
    if (n < 10) await time.pass(190)
  }
  await time.pass(100)
  expect(contents()).toEqual(['0 1 2 3 4 5 6 7 8 9 10 '])
  await asked[0]!.answer(PASS)
  stage.text(11, 'x')
  await time.pass(499)
  expect(contents()).toHaveLength(1)
  await time.pass(1)
  expect(contents()[1]).toMatch(/x$/)
})

test('the pause begins with the last text, to the millisecond', async () => {
  const { stage, contents } = stageWith()
  stage.text(1, 'a')
  expect(stage.isAsking).toBe(true)
  await time.pass(1)
  stage.text(2, 'b')
  await time.pass(499)
  expect(contents()).toEqual([])
  await time.pass(1)
  expect(contents()).toEqual(['ab'])
})

test('a window is shown with the end of the one before it, although an earlier one is judged meanwhile', async () => {
  const { stage, asked, contents } = stageWith()
  stage.text(1, 'a'.repeat(1024))
  stage.text(2, 'b'.repeat(1024))
  await asked[0]!.answer(PASS)
  stage.text(3, 'c'.repeat(1024))
  expect(contents()[2]).toBe('b'.repeat(256) + 'c'.repeat(1024))
})

test('no window ends inside a character that the provider has cut in two', async () => {
  const full = stageWith()
  full.stage.text(1, `${'a'.repeat(1024)}\ud83d`)
  full.stage.text(2, '\ude42b')
  full.stage.finish()
  expect(full.contents()).toEqual(['a'.repeat(1024), `${'a'.repeat(256)}\u{1f642}b`])
  for (const { answer } of full.asked) await answer(PASS)
  expect(full.released).toEqual([
    [1, 'a'.repeat(1024)],
    [2, '\u{1f642}b'],
  ])
  // Alone, half of a character waits for no verdict, and goes on after a pause.
  const slow = stageWith()
  slow.stage.text(1, '\ud83d')
  await time.pass(500)
  expect(slow.contents()).toEqual([])
  expect(slow.released).toEqual([[1, '']])
  slow.stage.text(2, '')
  slow.stage.text(3, '\ude42')
  await time.pass(500)
  expect(slow.contents()).toEqual(['\u{1f642}'])
  // At the end of a text it is no character.
  const last = stageWith()
  last.stage.text(1, 'a\ud83d')
  last.stage.finish()
  expect(last.contents()).toEqual(['a'])
})

test('what there is can be judged without a pause, unless a window is judged', async () => {
  const { stage, asked, contents, released } = stageWith()
  stage.judgeNow()
  expect(contents()).toEqual([])
  stage.text(1, 'one ')
  stage.judgeNow()
  expect(contents()).toEqual(['one '])
  stage.text(2, 'two ')
  stage.judgeNow()
  expect(contents()).toEqual(['one '])
  await asked[0]!.answer(PASS)
  stage.judgeNow()
  expect(contents()).toEqual(['one ', 'one two '])
  await asked[1]!.answer(PASS)
  expect(released.map(([tag]) => tag)).toEqual([1, 2])
})

test('no pause ends a window that was full', async () => {
  const { stage, contents } = stageWith()
  stage.text(1, 'begin')
  stage.text(2, 'x'.repeat(1024))
  stage.text(3, 'more')
  await time.pass(499)
  expect(contents()).toHaveLength(1)
  await time.pass(1)
  expect(contents()).toHaveLength(2)
})

test.each<[what: string, text: string, shown: string]>([
  ['ASCII', 'abcd'.repeat(300), 'abcd'.repeat(64)],
  ['two bytes', 'é'.repeat(600), 'é'.repeat(128)],
  ['three bytes', '文'.repeat(400), '文'.repeat(85)],
  ['four bytes', '🙂'.repeat(300), '🙂'.repeat(64)],
  ['half of a character at the edge', `${'🙂'.repeat(300)}ab`, `${'🙂'.repeat(63)}ab`],
])('the next window is shown with 256 bytes of the one before: %s', (_, text, shown) => {
  const { stage, contents } = stageWith()
  stage.text(1, text)
  stage.text(2, 'x'.repeat(1024))
  expect(contents()).toEqual([text, shown + 'x'.repeat(1024)])
})

test('a mask of text that has left refuses the stream', async () => {
  const { stage, asked, released, refused } = stageWith({ masks: true })
  stage.text(1, 'to ann')
  await time.pass(500)
  await asked[0]!.answer(PASS)
  stage.text(2, '@x')
  await time.pass(500)
  await asked[1]!.answer({ kind: 'mask', contents: ['to <E>'] })
  expect(released).toEqual([[1, 'to ann']])
  expect(refused).toMatchObject([{ detail: 'promptGuard.response[0]: webhook masked a text that cannot change' }])
})

test('two windows are judged at a time, and leave in order', async () => {
  const { stage, asked, released, counts } = stageWith()
  stage.text(1, 'a'.repeat(1024))
  expect(stage.isAsking).toBe(true)
  stage.text(2, 'b'.repeat(1024))
  expect(stage.isBusy).toBe(false)
  stage.text(3, 'c'.repeat(1023))
  expect(stage.isBusy).toBe(false)
  stage.text(4, 'c')
  expect(stage.isBusy).toBe(true)
  expect(asked).toHaveLength(2)
  await asked[1]!.answer(PASS)
  expect(released).toEqual([])
  expect(counts.progressed).toBe(1)
  expect(asked).toHaveLength(2)
  await asked[0]!.answer(PASS)
  expect(released.map(([tag]) => tag)).toEqual([1, 2])
  expect(asked).toHaveLength(3)
  expect(stage.isBusy).toBe(false)
  await asked[2]!.answer(PASS)
  expect(released.map(([tag]) => tag)).toEqual([1, 2, 3, 4])
  expect(stage.isAsking).toBe(false)
  expect(counts.finished).toBe(0)
})

test('what came before a pause is judged when the service has room, without further text', async () => {
  const { stage, asked, contents, released } = stageWith({ masks: true })
  stage.text(1, 'one ')
  await time.pass(500)
  stage.text(2, 'two')
  await time.pass(500)
  expect(contents()).toEqual(['one '])
  await asked[0]!.answer(PASS)
  expect(contents()).toEqual(['one ', 'one two'])
  await asked[1]!.answer(PASS)
  expect(released).toEqual([
    [1, 'one '],
    [2, 'two'],
  ])
})

test('what did not pause yet is not judged with a verdict on the text before', async () => {
  const { stage, asked, contents, released } = stageWith({ masks: true })
  stage.text(1, 'one ')
  await time.pass(500)
  stage.text(2, 'two')
  await asked[0]!.answer(PASS)
  expect(contents()).toHaveLength(1)
  expect(released).toEqual([[1, 'one ']])
  expect(stage.isAsking).toBe(true)
})

test('the end is judged at once, and reported when all has left', async () => {
  const { stage, asked, released, counts } = stageWith({ masks: true })
  stage.text(1, 'a'.repeat(1024))
  stage.text(2, 'rest')
  stage.text(3, '')
  stage.finish()
  expect(time.nextMs).toBeUndefined()
  expect(asked).toHaveLength(1)
  await asked[0]!.answer(PASS)
  expect(asked).toHaveLength(2)
  expect(counts.finished).toBe(0)
  await asked[1]!.answer(PASS)
  expect(released.slice(1)).toEqual([
    [2, 'rest'],
    [3, ''],
  ])
  expect(counts.finished).toBe(1)
  stage.finish()
  expect(counts.finished).toBe(1)
  await time.pass(1000)
  expect(asked).toHaveLength(2)
})

test('empty texts leave at once, or after the text before them', async () => {
  const { stage, asked, released, counts } = stageWith()
  stage.text(1, '')
  expect(released).toEqual([[1, '']])
  expect(stage.isAsking).toBe(false)
  stage.text(2, 'a')
  stage.text(3, '')
  expect(released).toHaveLength(1)
  await time.pass(500)
  stage.text(4, '')
  expect(released).toHaveLength(1)
  await asked[0]!.answer(PASS)
  expect(released.slice(1)).toEqual([
    [2, 'a'],
    [3, ''],
    [4, ''],
  ])
  stage.finish()
  expect(counts.finished).toBe(1)
  expect(asked).toHaveLength(1)
  const none = stageWith()
  none.stage.finish()
  expect(none.counts.finished).toBe(1)
})

test('a mask changes the new text, and what the next window is shown with', async () => {
  const { stage, asked, contents, released, exchange } = stageWith({ masks: true })
  stage.text(1, 'to ann')
  stage.text(2, '@x now')
  await time.pass(500)
  stage.text(3, 'bye')
  stage.finish()
  await asked[0]!.answer({ kind: 'mask', contents: ['to <E> now'], requestId: 'r1' })
  expect(released).toEqual([
    [1, 'to <E>'],
    [2, ' now'],
  ])
  expect(contents()[1]).toBe('to <E> nowbye')
  await asked[1]!.answer(PASS)
  expect(exchange.guardChecks).toMatchObject([
    { verdict: 'Mask', length: 12, count: 1, requestId: 'r1' },
    { verdict: 'Allow', length: 3, count: 1 },
  ])
})

test.each<[what: string, verdict: ServiceVerdict, more: { isFixed?: boolean }, detail: string, outcome: string]>([
  [
    'a rejection',
    { kind: 'reject', status: 451, body: 'law' },
    {},
    'promptGuard.response[0]: webhook rejected',
    'Reject',
  ],
  [
    'a failure',
    { kind: 'failed', detail: 'it is down' },
    {},
    'promptGuard.response[0]: webhook default/judge: it is down',
    'Fail',
  ],
  [
    'a mask of a text that cannot change',
    { kind: 'mask', contents: ['<E>'] },
    { isFixed: true },
    'promptGuard.response[0]: webhook masked a text that cannot change',
    'Reject',
  ],
])('%s refuses the stream, and nothing more leaves', async (_, verdict, more, detail, outcome) => {
  const { stage, asked, released, refused, counts, exchange } = stageWith(more)
  stage.text(1, 'text')
  await time.pass(500)
  stage.text(2, 'x'.repeat(1024))
  stage.text(3, 'waits')
  await asked[0]!.answer(verdict)
  expect(refused).toMatchObject([{ detail }])
  expect(exchange.guardChecks).toMatchObject([{ verdict: outcome, length: 4 }])
  await asked[1]!.answer(PASS)
  stage.text(4, 'y'.repeat(1024))
  stage.text(5, '')
  stage.finish()
  await time.pass(1000)
  expect(asked).toHaveLength(2)
  expect(released).toEqual([])
  expect(refused).toHaveLength(1)
  expect(counts.finished).toBe(0)
})

test('nothing is asked after the stream is over', async () => {
  const { stage, asked, endStream } = stageWith()
  stage.text(1, 'Hello')
  endStream()
  await time.pass(1000)
  stage.text(2, 'x'.repeat(2000))
  expect(asked).toEqual([])
})

test('nothing is asked after the client has disconnected', async () => {
  const { stage, asked, released, leave } = stageWith()
  stage.text(1, 'text')
  leave()
  await time.pass(1000)
  stage.text(2, 'x'.repeat(2000))
  expect(asked).toEqual([])
  expect(released).toEqual([])
})

test('texts without content do not leave after a rejection', async () => {
  const { stage, asked, released, counts } = stageWith()
  stage.text(1, 'x'.repeat(1024))
  stage.text(2, '')
  stage.finish()
  await asked[0]!.answer({ kind: 'reject' })
  expect(released).toEqual([])
  expect(counts.finished).toBe(0)
})

test('windows that are judged are counted', async () => {
  const { stage, asked, exchange } = stageWith()
  let windows = 0
  const none = { add: () => {} }
  const guardLoad = new GuardLoad(none, { add: (amount) => (windows += amount) })
  exchange.context = runContext({ guardLoad })
  stage.text(1, 'x'.repeat(2048))
  expect(windows).toBe(1)
  await asked[0]!.answer(PASS)
  expect(windows).toBe(0)
})

test('texts without content make no pause longer', async () => {
  const { stage, contents } = stageWith()
  stage.text(1, 'hello')
  for (let tag = 2; tag < 5; tag++) {
    await time.pass(200)
    stage.text(tag, '')
  }
  expect(contents()).toEqual(['hello'])
})

test('services are asked about a window at the same time, and it leaves when all have passed', async () => {
  const { stage, asked, contents, released, counts, exchange } = stageWith({ services: 3 })
  let windows = 0
  const guardLoad = new GuardLoad({ add: () => {} }, { add: (amount) => (windows += amount) })
  exchange.context = runContext({ guardLoad })
  stage.text(1, 'text')
  stage.finish()
  expect(contents()).toEqual(['text', 'text', 'text'])
  expect(asked.map(({ index }) => index)).toEqual([0, 1, 2])
  expect(windows).toBe(1)
  await time.pass(10)
  await asked[2]!.answer(PASS)
  await time.pass(10)
  await asked[0]!.answer({ kind: 'pass', requestId: 'r0' })
  expect(stage.isAsking).toBe(true)
  expect(released).toEqual([])
  await time.pass(10)
  await asked[1]!.answer(PASS)
  expect(released).toEqual([[1, 'text']])
  expect(windows).toBe(0)
  expect(counts).toEqual({ finished: 1, progressed: 1 })
  expect(asked.some(({ signal }) => signal.aborted)).toBe(false)
  expect(exchange.guardChecks).toMatchObject([
    { index: 0, verdict: 'Allow', count: 1, length: 4, durationMs: 20, requestId: 'r0' },
    { index: 1, verdict: 'Allow', count: 1, length: 4, durationMs: 30, requestId: undefined },
    { index: 2, verdict: 'Allow', count: 1, length: 4, durationMs: 10, requestId: undefined },
  ])
})

test('each of two windows in flight is judged by all services', async () => {
  const { stage, asked, released, exchange } = stageWith({ services: 2 })
  stage.text(1, 'a'.repeat(1024))
  stage.text(2, 'b'.repeat(1024))
  stage.text(3, 'c'.repeat(1024))
  const shown = (at: number) => ({ index: asked[at]!.index, content: asked[at]!.content })
  expect(asked).toHaveLength(4)
  expect(shown(2)).toEqual({ index: 0, content: 'a'.repeat(256) + 'b'.repeat(1024) })
  expect(shown(3)).toEqual({ ...shown(2), index: 1 })
  for (const at of [3, 2, 0]) await asked[at]!.answer(PASS)
  expect(released).toEqual([])
  await asked[1]!.answer(PASS)
  expect(released.map(([tag]) => tag)).toEqual([1, 2])
  expect(asked).toHaveLength(6)
  expect(exchange.guardChecks).toMatchObject([
    { index: 0, count: 2 },
    { index: 1, count: 2 },
  ])
})

const REJECT: ServiceVerdict = { kind: 'reject' }
const FAIL: ServiceVerdict = { kind: 'failed', detail: 'it is down' }

test.each<[what: string, first: ServiceVerdict, detail: string, outcome: string]>([
  ['rejection', REJECT, 'promptGuard.response[0]: webhook rejected', 'Reject'],
  ['failure', FAIL, 'promptGuard.response[0]: webhook default/judge: it is down', 'Fail'],
])('a %s by the first service ends the questions to the others', async (_, first, detail, outcome) => {
  const { stage, asked, released, refused, exchange } = stageWith({ services: 3 })
  stage.text(1, 'x'.repeat(1024))
  await asked[1]!.answer(REJECT)
  expect(refused).toEqual([])
  expect(asked.some(({ signal }) => signal.aborted)).toBe(false)
  await asked[0]!.answer(first)
  expect(refused).toMatchObject([{ detail }])
  expect(asked[2]!.signal.aborted).toBe(true)
  expect(exchange.guardChecks).toMatchObject([{ index: 0, verdict: outcome }])
  await asked[2]!.answer(PASS)
  expect(released).toEqual([])
  expect(refused).toHaveLength(1)
  expect(exchange.guardChecks).toHaveLength(1)
})

test('a rejection by a later service counts when those before it have passed', async () => {
  const { stage, asked, released, refused, exchange } = stageWith({ services: 2 })
  stage.text(1, 'x'.repeat(1024))
  stage.text(2, 'y'.repeat(1024))
  // The second window waits for the first one, and its other question is not needed.
  await asked[2]!.answer(FAIL)
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([false, false, true, true])
  await asked[1]!.answer(REJECT)
  expect(refused).toEqual([])
  await asked[0]!.answer(PASS)
  expect(refused).toMatchObject([{ detail: 'promptGuard.response[1]: webhook rejected' }])
  expect(released).toEqual([])
  expect(exchange.guardChecks).toMatchObject([
    { index: 0, verdict: 'Allow' },
    { index: 1, verdict: 'Reject' },
  ])
})

test('the questions to all services end with the stream', () => {
  const { stage, asked, endStream } = stageWith({ services: 2 })
  stage.text(1, 'x'.repeat(1024))
  endStream()
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, true])
})
