import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import type { Flood } from '#test/support/flooding-provider.ts'
import {
  chatEvent,
  FLOODED,
  type FloodedRoute,
  type GuardedClient,
  type GuardedFloods,
  startGuardedFloods,
  textEvents,
} from '#test/support/guarded-floods.ts'
import { POURED_BYTES } from '#test/support/pour.ts'

// Providers that send more than guards let pass, over real sockets.

const KIB = 1024
/** All bodies of the worker together: what is held by memory instead of backpressure fails. */
const BODY_MEMORY = 4096 * KIB
/** Of one stream. */
const MAX_HELD = 64 * KIB

const stops = new AsyncDisposableStack()
let floods: GuardedFloods
let flood: (asked: string) => Flood
let clients: GuardedClient[] = []

beforeAll(async () => {
  floods = await startGuardedFloods((asked) => flood(asked), stops, { GATEWRIGHT_BODY_MEMORY: String(BODY_MEMORY) })
})
afterAll(() => stops.disposeAsync())

beforeEach(() => {
  flood = (asked) => ({ event: textEvents(asked), maxBytes: Number.POSITIVE_INFINITY })
  floods.judge.hush()
})
afterEach(async () => {
  for (const client of clients) client.leave()
  clients = []
  await isIdle()
})

/** Nothing is held, nobody is asked, and no provider sends. */
const isIdle = () =>
  eventually('nothing is left of the streams', async () => {
    const { heldBytes, windows } = await floods.gauges()
    return heldBytes === 0 && windows === 0 && floods.provider.open === 0 ? true : undefined
  })

function open(count: number, route: FloodedRoute): GuardedClient[] {
  const opened = Array.from({ length: count }, () => floods.open(route))
  clients.push(...opened)
  return opened
}

/** Until the other side takes no more. */
async function allTaken(): Promise<number> {
  let before = -1
  return eventually('the providers wait', async () => {
    await sleep(100)
    const { taken } = floods.provider
    const isStill = taken > 0 && taken === before
    before = taken
    return isStill ? taken : undefined
  })
}

test.each(FLOODED)('%s: while its service is silent, the provider waits, and goes on after it', async (route) => {
  const streams = open(8, route)
  await eventually('a window of each is judged', async () =>
    (await floods.gauges()).windows === streams.length ? true : undefined,
  )
  // What the system has taken is in the buffers of its sockets, or in the window of the stream.
  expect(await allTaken()).toBeLessThan(streams.length * POURED_BYTES)
  const { heldBytes, windows } = await floods.gauges()
  expect(heldBytes).toBeGreaterThan(streams.length * KIB)
  expect(heldBytes).toBeLessThanOrEqual(streams.length * MAX_HELD)
  expect(windows).toBe(streams.length)
  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => undefined))
  floods.judge.speak()
  await eventually('all of them go on', () => streams.every(({ text }) => text.length > MAX_HELD))
  expect((await floods.gauges()).heldBytes).toBeLessThanOrEqual(streams.length * MAX_HELD)
  expect(streams.some(({ text }) => text.includes('guardrail_intervention'))).toBe(false)
})

test.each(FLOODED)('%s: clients that leave while their windows are judged leave nothing behind', async (route) => {
  const streams = open(8, route)
  await eventually('a window of each is judged', async () => (await floods.gauges()).windows === streams.length)
  for (const client of streams) client.leave()
  await isIdle()
  floods.judge.speak()
  const [after] = open(1, route)
  await eventually('another one goes on', () => after!.text.length > MAX_HELD)
})

test('the stream that holds too much is ended by the error event; others go on', async () => {
  flood = (asked) => ({ event: textEvents(asked), maxBytes: 200_000, bytesPerSecond: 200_000 })
  const others = open(2, 'patterns')
  await eventually('the others have begun', () => others.every(({ text }) => text !== ''))
  const held = {
    tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":"b@c' } }],
  }
  flood = () => ({
    begin: chatEvent({ content: 'Hello. ' }) + chatEvent(held),
    event: chatEvent({ content: 'The answer of another choice. ' }, 1),
    maxBytes: Number.POSITIVE_INFINITY,
  })
  const [full] = open(1, 'patterns')
  await eventually('it ends', () => full!.ended)
  expect(full!.status).toBe(200)
  expect(full!.text).toContain('"content":"Hello')
  expect(full!.text).not.toContain('another choice')
  const last = full!.text.trimEnd().split('\n\n').at(-1)!
  expect(JSON.parse(last.replace('data: ', ''))).toEqual({
    error: { message: 'prompt guard failed', type: 'server_error', param: null, code: 'guardrail_intervention' },
  })
  await eventually('the others end', () => others.every(({ ended }) => ended))
  for (const { text } of others) expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  await isIdle()
})

const REFUSED = /"(prompt guard failed|no memory for the body)"/

test('streams for which the worker has no memory are refused; others go on', async () => {
  const whole = chatEvent({ content: 'word '.repeat(8 * KIB) })
  const half = whole.length >> 1
  const goOn = Promise.withResolvers<void>()
  // Half an event waits in memory for the other half, however fast the machine is; that of all streams is more than the worker has.
  flood = () => ({
    begin: chatEvent({ content: 'Hello. ' }) + whole.slice(0, half),
    after: goOn.promise,
    event: whole.slice(half) + whole.slice(0, half),
    maxBytes: Number.POSITIVE_INFINITY,
  })
  const streams = open((2 * BODY_MEMORY) / half, 'http1')
  const refused = await eventually('some are refused', () => {
    const ended = streams.filter((client) => client.ended)
    return ended.some(({ text }) => text.includes('"prompt guard failed"')) ? ended : undefined
  })
  const others = streams.filter((client) => !client.ended)
  // With a status, or with the error event if the head has left; the body of a request that comes later finds no memory, too.
  for (const { text } of refused) expect(text).toMatch(REFUSED)
  floods.judge.speak()
  goOn.resolve()
  await eventually('ten of the others go on', () => others.filter(({ text }) => text.length > MAX_HELD).length > 10)
  // The worker has memory for a few of them only.
  for (const { text } of others.filter(({ ended }) => ended)) expect(text).toMatch(REFUSED)
}, 90_000)

test.each(['http1', 'http2', 'translated', 'translated-http2'] as const)(
  '%s: a stream that is not compressed as it says is refused at once, whatever its length',
  async (route) => {
    flood = (asked) => ({
      event: textEvents(asked),
      headers: { 'content-encoding': 'gzip' },
      maxBytes: Number.POSITIVE_INFINITY,
    })
    const [client] = open(1, route)
    await eventually('it is over', () => client!.ended)
    expect(client!.status).toBe(502)
    await isIdle()
  },
)
