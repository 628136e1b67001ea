import { afterEach, beforeEach, expect, test } from 'vitest'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { ExportQueue, type ExportResult } from './export-queue.ts'

const ACCEPTED: ExportResult = { kind: 'accepted', rejectedItems: 0, detail: undefined }
const FAILED: ExportResult = { kind: 'failed', cause: 'down', retryAfterMs: undefined }
const item = (bytes = 1) => new Uint8Array(bytes)

let time: VirtualTime
beforeEach(() => {
  time = new VirtualTime()
})
afterEach(() => time[Symbol.dispose]())

/** A queue whose server the test plays, and what happens to it. */
function queueWith(answer: (items: number) => ExportResult | Promise<ExportResult> = () => ACCEPTED) {
  const events: string[] = []
  const played = { answer }
  const queue = new ExportQueue(
    {
      send: async (items) => {
        events.push(`send ${items.length}`)
        return played.answer(items.length)
      },
      delivered: (items) => events.push(`delivered ${items}`),
      dropped: (reason, items) => {
        const last = events.at(-1)?.split(' ')
        if (last?.[0] === 'dropped' && last[1] === reason)
          events.splice(-1, 1, `dropped ${reason} ${Number(last[2]) + items}`)
        else events.push(`dropped ${reason} ${items}`)
      },
      failing: (cause) => events.push(`failing: ${cause}`),
      resumed: () => events.push('resumed'),
    },
    () => 1,
  )
  const add = (count: number, bytes?: number) => {
    for (let i = 0; i < count; i++) queue.add(item(bytes))
  }
  return { queue, events, add, played }
}

test('items wait a second for others', async () => {
  const { events, add } = queueWith()
  add(2)
  await time.pass(500)
  add(1)
  await time.pass(499)
  expect(events).toEqual([])
  await time.pass(1)
  expect(events).toEqual(['send 3', 'delivered 3'])
})

test('a full export does not wait, but for the end of the event', async () => {
  const { events, add } = queueWith()
  add(600)
  expect(events).toEqual([])
  await time.pass(0)
  expect(events).toEqual(['send 600', 'delivered 600'])
})

test('there is one export at a time, of at most one MiB', async () => {
  const first = Promise.withResolvers<ExportResult>()
  const { events, add, played } = queueWith(() => first.promise)
  add(5, 300_000)
  await time.pass(0)
  add(1)
  await time.pass(5000)
  expect(events).toEqual(['send 3'])
  played.answer = () => ACCEPTED
  first.resolve(ACCEPTED)
  await time.pass(1000)
  expect(events.slice(1)).toEqual(['delivered 3', 'send 3', 'delivered 3'])
})

test.each([
  ['by number', 5000, 1, 'dropped queue-full 2952'],
  ['by size', 20, 1_000_000, 'dropped queue-full 12'],
])('a queue without a server is bounded %s: the oldest are dropped', async (_, count, bytes, dropped) => {
  const { events, add } = queueWith(() => new Promise(() => {}))
  add(1)
  await time.pass(1000)
  add(count, bytes)
  expect(events).toEqual(['send 1', dropped])
})

test('a queue without a server holds eight MiB', async () => {
  const { events, add } = queueWith(() => new Promise(() => {}))
  add(1)
  await time.pass(1000)
  add(8, 1024 * 1024)
  expect(events).toEqual(['send 1'])
  add(1)
  expect(events).toEqual(['send 1', 'dropped queue-full 1'])
})

test('items of a failed export are the oldest: they make room for newer ones', async () => {
  const first = Promise.withResolvers<ExportResult>()
  const { events, add, played } = queueWith(() => first.promise)
  add(600)
  await time.pass(0)
  add(2000)
  first.resolve(FAILED)
  await time.pass(0)
  expect(events).toEqual(['send 600', 'failing: down', 'dropped queue-full 552'])
  played.answer = () => ACCEPTED
  await time.pass(1000)
  expect(events.slice(3)).toEqual(['send 2048', 'delivered 2048', 'resumed'])
})

test('failures are reported once, and waits double up to half a minute; after five minutes items are dropped', async () => {
  const { events, add, played } = queueWith(() => FAILED)
  add(1)
  await time.pass(1000)
  const waits: number[] = []
  while (!events.some((one) => one.startsWith('dropped'))) {
    waits.push(time.nextMs!)
    await time.pass(time.nextMs!)
  }
  expect(waits.slice(0, 7)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  expect(waits.reduce((sum, one) => sum + one)).toBe(301_000)
  expect(events.filter((one) => !one.startsWith('send'))).toEqual(['failing: down', 'dropped undeliverable 1'])
  played.answer = () => ACCEPTED
  add(1)
  await time.pass(30_000)
  expect(events.slice(-3)).toEqual(['send 1', 'delivered 1', 'resumed'])
})

test.each([
  ['in a few seconds', 7000, 7000],
  ['at once', 0, 0],
  ['in more than five minutes', 3_600_000, 300_000],
])('the server says when to send again: %s', async (_, retryAfterMs, expected) => {
  const { events, add, played } = queueWith(() => {
    played.answer = () => ACCEPTED
    return { ...FAILED, retryAfterMs }
  })
  add(1)
  await time.pass(1000)
  if (expected > 0) {
    await time.pass(expected - 1)
    expect(events).toEqual(['send 1', 'failing: down'])
    await time.pass(1)
  }
  expect(events.slice(2)).toEqual(['send 1', 'delivered 1', 'resumed'])
})

test.each<[string, ExportResult, string[]]>([
  ['refused', { kind: 'refused', cause: 'bad' }, ['send 2', 'dropped refused 2', 'failing: bad']],
  [
    'a part is rejected',
    { kind: 'accepted', rejectedItems: 1, detail: 'old' },
    ['send 2', 'delivered 1', 'dropped refused 1', 'failing: old'],
  ],
  [
    'more are rejected than there are',
    { kind: 'accepted', rejectedItems: 9, detail: undefined },
    ['send 2', 'dropped refused 2', 'failing: the server rejected some items'],
  ],
])('%s: not sent again', async (_, result, expected) => {
  const { events, add } = queueWith(() => result)
  add(2)
  await time.pass(100_000)
  expect(events).toEqual(expected)
})

test('an item that is larger than an export is dropped', () => {
  const { events, add } = queueWith()
  add(1, 1024 * 1024 + 1)
  expect([events, time.nextMs]).toEqual([['dropped too-large 1'], undefined])
})

test('the end sends what waits', async () => {
  const { queue, events, add } = queueWith()
  add(3)
  await queue.close(1000)
  expect([events, time.nextMs]).toEqual([['send 3', 'delivered 3'], undefined])
})

test('the end does not wait for a server that fails', async () => {
  const { queue, events, add } = queueWith(() => FAILED)
  add(3)
  await queue.close(1000)
  expect([events, time.nextMs]).toEqual([['send 3', 'failing: down', 'dropped shutdown 3'], undefined])
})

test('nothing waits in an idle queue', async () => {
  const { queue, add } = queueWith()
  add(1)
  expect(queue.idleMs).toBe(0)
  await time.pass(1000)
  await time.pass(500)
  expect(queue.idleMs).toBe(500)
})
