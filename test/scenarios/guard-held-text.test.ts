import { afterAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import type { Flood } from '#test/support/flooding-provider.ts'
import { chatEvent, type GuardedClient, startGuardedFloods, textEvents } from '#test/support/guarded-floods.ts'

// The bound of what guards of a worker hold back, over real sockets.

const MIB = 1024 * 1024
const MAX_HELD = 64 * MIB
const EVENT_BYTES = 1000000
/** How many events of this size fit. */
const FITTING = Math.floor(MAX_HELD / EVENT_BYTES)

const stops = new AsyncDisposableStack()
afterAll(() => stops.disposeAsync())

/** With spaces, which are no text. */
function padded(event: string): string {
  const end = event.length - '}\n\n'.length
  return event.slice(0, end).padEnd(EVENT_BYTES - (event.length - end)) + event.slice(end)
}

/** One event with the text of a window, and padding. No second event follows while the test runs. */
const LARGE: Flood = {
  event: padded(chatEvent({ content: 'a word '.repeat(200) })),
  bytesPerSecond: 1,
  maxBytes: Number.POSITIVE_INFINITY,
}

test('guards of a worker hold 64 MiB; the next stream is refused, and the others go on', async () => {
  let flood = LARGE
  const memory = { GATEWRIGHT_BODY_MEMORY: String(512 * MIB) }
  const floods = await startGuardedFloods(() => flood, stops, memory)
  const isHeld = (events: number) =>
    eventually(`${events} events are held`, async () => {
      const { heldBytes, windows } = await floods.gauges()
      return windows === events && Math.round(heldBytes / EVENT_BYTES) === events ? heldBytes : undefined
    })
  const clients: GuardedClient[] = []
  while (clients.length < FITTING) {
    clients.push(floods.open('http1'))
    if (clients.length % 10 === 0) await isHeld(clients.length)
  }
  await isHeld(FITTING)
  const next = floods.open('http1')
  await eventually('the next stream is over', () => next.ended)
  expect(next.status).toBe(503)
  expect(next.text).toContain('"prompt guard failed"')
  const heldBytes = await isHeld(FITTING)
  expect(heldBytes).toBeGreaterThan(MAX_HELD - EVENT_BYTES)
  expect(heldBytes).toBeLessThanOrEqual(MAX_HELD)
  expect(clients.some(({ ended }) => ended)).toBe(false)

  // Room for a small event is left.
  flood = { event: textEvents(''), maxBytes: 4000 }
  const small = floods.open('http1')
  await eventually('a window of it is judged', async () => (await floods.gauges()).windows === FITTING + 1)
  floods.judge.speak()
  await eventually('all events have passed', () => clients.every(({ text }) => text.length > EVENT_BYTES - 10_000))
  await eventually('the small one ends', () => small.ended)
  expect(small.text.endsWith('data: [DONE]\n\n')).toBe(true)
  expect(clients.map(({ status }) => status)).toEqual(clients.map(() => 200))
  for (const client of clients) client.leave()
  await eventually('nothing is held', async () => {
    const gauges = await floods.gauges()
    return gauges.heldBytes === 0 && gauges.windows === 0 && floods.provider.open === 0
  })
}, 180_000)
