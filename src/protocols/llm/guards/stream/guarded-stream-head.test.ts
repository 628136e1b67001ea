import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import type { AnswerFailure, AnswerFilter } from '../../../backend-protocol.ts'
import { CompletionsStream } from '../../dialects/completions/stream.ts'
import { Collector } from '../../testing.ts'
import type { Guard, RegexGuard, ServiceGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import type { ServiceVerdict } from '../services/service.ts'
import { GuardedStream } from './guarded-stream.ts'

let time: VirtualTime
beforeEach(() => {
  time = new VirtualTime()
})
afterEach(() => time[Symbol.dispose]())

const refusal = reject('prompt-guard-rejected', { status: 403, body: 'no' })
// A name cannot be masked, so that a match rejects.
const SECRET: RegexGuard = {
  ...{ phase: 'response', index: 0, kind: 'regex', rejects: false, refusal },
  rules: compileRules({ matches: ['secret-[0-9]+'] }, () => {}),
}

const chunk = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`
const REJECTED = chunk({ tool_calls: [{ index: 0, function: { name: 'secret-1' } }] })

/** A stream behind a filter that reads and translates it. */
function streamBehind(inner: Partial<AnswerFilter> | undefined, isHeld = true, guard: Guard = SECRET) {
  const exchange = exchangeWith()
  exchange.response = Head.response(200)
  const state: { begun?: () => void; failure?: AnswerFailure; refusal?: Refusal } = {}
  const filter = new GuardedStream(
    inner && {
      changesLength: false,
      whenBegun(begun) {
        state.begun = begun
      },
      get failure() {
        return state.failure
      },
      get refusal() {
        return state.refusal
      },
      into: (sink) => sink,
      ...inner,
    },
    {
      guards: [guard],
      format: 'Completions',
      stream: new CompletionsStream(),
      exchange,
      claim: roomFor(0).claim,
      maxEventBytes: 10_000,
      kept: undefined,
    },
  )
  const told: string[] = []
  if (isHeld) filter.whenBegun(() => told.push('begun'))
  filter.whenOver(() => told.push('over'))
  const client = new Collector()
  const sink = filter.into(client)
  return { filter, state, told, client, send: (text: string) => sink.bytes(Buffer.from(text), 0, text.length) }
}

const FAILURE: AnswerFailure = { detail: 'broken', unhealthy: true, status: 500, cut: undefined }

test('the first content of the provider does not begin a response, the first text that passes does', () => {
  const { state, told, send } = streamBehind({})
  state.begun!()
  expect(told).toEqual([])
  send(chunk({ content: 'word ' }))
  expect(told).toEqual(['begun'])
  state.begun!()
  expect(told).toEqual(['begun'])
})

test.each([{ failure: FAILURE }, { refusal: reject('llm-response-invalid', { body: 'busy' }) }])(
  'a failure begins it at once: %j',
  (failed) => {
    const { filter, state, told } = streamBehind({})
    Object.assign(state, failed)
    state.begun!()
    expect(told).toEqual(['begun'])
    expect({ failure: filter.failure, refusal: filter.refusal }).toEqual({
      failure: undefined,
      refusal: undefined,
      ...failed,
    })
  },
)

test('a rejection before the first text is the response', () => {
  const { filter, state, told, send } = streamBehind({})
  send(REJECTED)
  expect(told).toEqual(['begun', 'over'])
  expect(filter.refusal).toMatchObject({ status: 403, body: 'no' })
  // How the rest of the stream ended does not matter.
  state.failure = FAILURE
  expect(filter.failure).toBeUndefined()
})

test('a rejection after the first text, or of a response that does not wait, is an event', () => {
  for (const isHeld of [true, false]) {
    const { filter, told, client, send } = streamBehind(undefined, isHeld)
    send(chunk({ content: 'word ' }) + REJECTED)
    expect(told).toEqual(isHeld ? ['begun', 'over'] : ['over'])
    expect(filter.refusal).toBeUndefined()
    expect(client.text).toContain('"code":"guardrail_intervention"')
    expect(client.ended).toBe(1)
  }
})

test('while a service judges the first text, the head waits: its rejection is the response', async () => {
  let answer = (_: ServiceVerdict) => {}
  const guard: ServiceGuard = {
    ...{ phase: 'response', index: 0, kind: 'webhook', refusal },
    service: {
      ...{ kind: 'webhook', destination: 'ProxyBackend/default/judge', masks: true },
      judge: () =>
        new Promise((resolve) => {
          answer = resolve
        }),
    },
  }
  const { filter, told, client, send } = streamBehind(undefined, true, guard)
  expect(filter.isJudging).toBe(false)
  // Nothing waits for the service: the head and pings leave after their time.
  send(chunk({ role: 'assistant', content: '' }))
  expect(filter.isJudging).toBe(false)
  send(chunk({ content: 'word' }))
  await time.pass(9000)
  expect(filter.isJudging).toBe(true)
  answer({ kind: 'reject' })
  await time.pass(0)
  expect(told).toEqual(['begun', 'over'])
  expect(filter.isJudging).toBe(false)
  expect(filter.refusal).toMatchObject({ status: 403, body: 'no' })
  expect(client.text).not.toContain('word')
})

test('what a pattern holds back is not judged: only the provider can go on with it', () => {
  const { filter, send } = streamBehind(undefined)
  send(chunk({ content: 'secret-' }))
  expect(filter.isJudging).toBe(false)
})

test('a stream of a whole answer is held until the answer has ended', () => {
  expect(streamBehind({ isJudging: true }).filter.isJudging).toBe(true)
  expect(streamBehind({ isJudging: false }).filter.isJudging).toBe(false)
})

test('a filter without these functions is one', () => {
  const { told, send } = streamBehind({ whenBegun: undefined, whenOver: undefined } as never)
  send(chunk({ content: 'word ' }))
  expect(told).toEqual(['begun'])
})

test('the refusal of a translation has no guarded text', () => {
  const { filter, state } = streamBehind({})
  state.refusal = reject('llm-response-invalid', { status: 429, body: 'about secret-12' })
  expect(filter.refusal).toMatchObject({ status: 429, body: 'about <masked>' })
  expect(filter).toMatchObject({ mayRefuse: true, changesLength: true })
})
