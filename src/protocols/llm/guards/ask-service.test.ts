import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { reject } from '#exchange/outcome.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { askAboutBody, askAboutWindow } from './ask-service.ts'
import type { ServiceGuard } from './guard.ts'
import type { GuardSurroundings, ServiceVerdict } from './services/service.ts'
import { question } from './services/testing.ts'

let time: VirtualTime
beforeEach(() => {
  time = new VirtualTime()
})
afterEach(() => time[Symbol.dispose]())

const PASS: ServiceVerdict = { kind: 'pass' }

/** A service that takes this long. */
function guardThat(takesMs: number) {
  const asked: (GuardSurroundings & { readonly leftMs: number })[] = []
  const guard: ServiceGuard = {
    kind: 'webhook',
    phase: 'request',
    index: 0,
    refusal: reject('prompt-guard-rejected'),
    service: {
      kind: 'webhook',
      destination: 'ProxyBackend/default/judge',
      masks: false,
      judge(_, around) {
        asked.push({ ...around, leftMs: around.untilMs - clock.monotonic() })
        return new Promise((resolve) => clock.after(takesMs, () => resolve(PASS)))
      },
    },
  }
  return { guard, asked }
}

async function askAll(...pending: readonly Promise<unknown>[]) {
  await time.pass(60_000)
  return await Promise.all(pending)
}

let exchange: Exchange
beforeEach(() => {
  exchange = exchangeWith()
})

test('a service is asked once about a text, in one request', async () => {
  const { guard, asked } = guardThat(100)
  const ask = (text: string, of = exchange) => askAboutBody(guard, question([text]), of)
  expect(await askAll(ask('one'), ask('one'), ask('two'))).toEqual([
    { verdict: PASS, isReused: false, durationMs: 100 },
    { verdict: PASS, isReused: true, durationMs: 100 },
    { verdict: PASS, isReused: false, durationMs: 100 },
  ])
  expect(await askAll(ask('one'))).toEqual([{ verdict: PASS, isReused: true, durationMs: 0 }])
  expect(asked).toHaveLength(2)
  await askAll(ask('one', exchangeWith()))
  await askAll(askAboutBody(guardThat(0).guard, question(['one']), exchange))
  expect(asked).toHaveLength(3)
})

test('a question that has ended is asked again', async () => {
  const { guard, asked } = guardThat(100)
  const needless = new AbortController()
  const first = askAboutBody(guard, question(['one']), exchange, needless.signal)
  await time.pass(50)
  needless.abort()
  expect(asked[0]!.signal.aborted).toBe(true)
  await askAll(first)
  await askAll(askAboutBody(guard, question(['one']), exchange))
  expect(asked).toHaveLength(2)
})

test('a question that is a whole number of parts is digested to its end', async () => {
  const { guard, asked } = guardThat(0)
  const around = JSON.stringify(question(['']).messages).length
  for (const last of ['x', 'y', 'x']) {
    const text = 'x'.repeat(2 * 32_768 - around - 1) + last
    await askAll(askAboutBody(guard, question([text]), exchange))
  }
  expect(asked).toHaveLength(2)
})

test('long texts are the same only if they are in all of their parts', async () => {
  const { guard, asked } = guardThat(0)
  const ask = (text: string) => askAll(askAboutBody(guard, question([text]), exchange))
  const long = 'x'.repeat(100_000)
  for (const text of [long, `${long}y`, `y${long.slice(1)}`, long.replace(/x$/, 'y'), long]) await ask(text)
  expect(asked).toHaveLength(4)
})

test('a failure is kept, too', async () => {
  let asked = 0
  const { guard } = guardThat(0)
  const failing: ServiceGuard = {
    ...guard,
    service: { ...guard.service, judge: async () => ({ kind: 'failed', detail: `${++asked}` }) },
  }
  await askAboutBody(failing, question(['x']), exchange)
  expect(await askAboutBody(failing, question(['x']), exchange)).toMatchObject({ isReused: true })
  expect(asked).toBe(1)
})

test('all services together have 30 seconds; time in which several are asked counts once', async () => {
  const slow = guardThat(8000)
  const other = guardThat(5000)
  const ask = (text: string, { guard } = slow) => askAboutBody(guard, question([text]), exchange)
  await askAll(ask('a'), ask('a', other))
  await askAll(ask('b'))
  const pending = ask('c')
  await time.pass(2000)
  await askAll(ask('c', other), pending)
  await askAll(ask('d'))
  expect(slow.asked.map(({ leftMs }) => leftMs)).toEqual([30_000, 22_000, 14_000, 6000])
  expect(other.asked.map(({ leftMs }) => leftMs)).toEqual([30_000, 12_000])
})

test.each<[isCalling: boolean, detail: string]>([
  [true, 'webhook default/judge is asked about 2 texts of the request, 8 characters'],
  [
    false,
    'webhook default/judge would be asked about 2 texts of the request, 8 characters; without --call, it counts as letting them pass',
  ],
])('explain shows who is asked, once and without the texts: with calls: %s', async (isCalling, detail) => {
  const steps: unknown[] = []
  exchange.trace = { isCalling, step: (step: unknown) => steps.push(step) } as never
  const { guard } = guardThat(0)
  await askAll(askAboutBody(guard, question(['one', 'three']), exchange))
  await askAll(askAboutBody(guard, question(['one', 'three']), exchange))
  expect(steps).toEqual([{ stage: 'backend', name: 'promptGuard', verdict: 'proceed', detail, origins: [] }])
})

test('a part of a stream is asked about each time, has its own time, and ends with the stream', async () => {
  const { guard, asked } = guardThat(100)
  const { signal } = new AbortController()
  await time.pass(50)
  const ask = () => askAboutWindow(guard, question(['one'], 'response'), exchange, signal)
  expect(await askAll(ask(), ask())).toEqual([
    { verdict: PASS, isReused: false, durationMs: 100 },
    { verdict: PASS, isReused: false, durationMs: 100 },
  ])
  expect(asked.map(({ leftMs }) => leftMs)).toEqual([30_000, 30_000])
  expect(asked.map((around) => around.signal)).toEqual([signal, signal])
})
