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

test('windows of a stream are asked about each time, and each has its own time', async () => {
  const { guard, asked } = guardThat(9000)
  for (let each = 0; each < 5; each++) await askAll(askAboutWindow(guard, question(['same'], 'response'), exchange))
  expect(asked.map(({ leftMs }) => leftMs)).toEqual([30_000, 30_000, 30_000, 30_000, 30_000])
})

test('explain shows who is asked, without the texts', async () => {
  const steps: unknown[] = []
  exchange.trace = { step: (step: unknown) => steps.push(step) } as never
  await askAll(askAboutBody(guardThat(0).guard, question(['one', 'three']), exchange))
  expect(steps).toMatchObject([
    { name: 'promptGuard', detail: 'webhook default/judge is asked about 2 texts of the request, 8 characters' },
  ])
})
