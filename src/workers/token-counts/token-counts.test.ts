import type { MessagePort } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { eventually } from '#test/support/eventually.ts'
import { CountingThreads } from './counting-threads.ts'
import { ThreadCounter } from './thread-counter.ts'

const { monotonic } = clock
const entry = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`)
const onQuestion = (code: string) =>
  entry(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', (port) => port.on('message', ({ id, texts }) => { ${code} }))
  `)
/** Says that every text is one token, and ends at the text `die`. */
const DYING = onQuestion(`
  if (texts[0] === 'die') throw new Error('died')
  port.postMessage({ id, tokens: texts.length })
`)

const failed: unknown[] = []
const stops: (() => void | Promise<void>)[] = []
afterEach(async () => {
  clock.monotonic = monotonic
  failed.length = 0
  for (const stop of stops.splice(0).reverse()) await stop()
})

function threads(url?: URL): CountingThreads {
  const threads = new CountingThreads((error) => failed.push(error), url)
  stops.push(() => threads.close())
  return threads
}

function counter(connect: (port: MessagePort) => void): ThreadCounter {
  const counter = new ThreadCounter(connect)
  stops.push(() => counter.close())
  return counter
}

test('the thread counts with both vocabularies, for several workers', async () => {
  const one = threads()
  const counters = [counter((port) => one.connect(port)), counter((port) => one.connect(port))]
  const texts = ['Hello, world! Привет, мир!', '<|endoftext|>']
  const countBoth = () =>
    Promise.all(counters.flatMap((each) => [each.count('o200k', texts), each.count('cl100k', texts)]))
  // A busy machine may need longer than a count waits for a vocabulary.
  await eventually('the vocabularies are loaded', async () => !(await countBoth()).includes(undefined))
  expect(await countBoth()).toEqual([16, 18, 16, 18])
})

test('16 counts wait for the thread; further ones are not made', async () => {
  const one = threads(DYING)
  const it = counter((port) => one.connect(port))
  const counts = Array.from({ length: 16 }, () => it.count('o200k', ['a', 'b']))
  expect(it.count('o200k', ['a'])).toBe(undefined)
  expect(new Set(await Promise.all(counts))).toEqual(new Set([2]))
  expect(await it.count('o200k', ['a'])).toBe(1)
})

test('a count that takes longer than two seconds is given up', async () => {
  const waits: (() => void)[] = []
  const { after } = clock
  clock.after = (ms, run) => {
    expect(ms).toBe(2000)
    waits.push(run)
    return { cancel: () => {} }
  }
  stops.push(() => {
    clock.after = after
  })
  const one = threads(onQuestion(''))
  const counted = counter((port) => one.connect(port)).count('o200k', ['a'])
  for (const run of waits) run()
  expect(await counted).toBe(undefined)
})

test('a thread that dies ends its counts; a minute later there is another one', async () => {
  const one = threads(DYING)
  const it = counter((port) => one.connect(port))
  expect(await Promise.all([it.count('o200k', ['die']), it.count('o200k', ['a'])])).toEqual([undefined, undefined])
  expect(failed).toMatchObject([{ message: 'died' }])
  expect(await it.count('o200k', ['a'])).toBe(undefined)
  const now = monotonic()
  clock.monotonic = () => now + 60_000
  expect(await it.count('o200k', ['a', 'b'])).toBe(2)
})

test('a thread that cannot start counts nothing', async () => {
  const one = threads(new URL('./none.ts', import.meta.url))
  expect(await counter((port) => one.connect(port)).count('o200k', ['a'])).toBe(undefined)
  expect(failed).toHaveLength(1)
})

test('without a count there is nothing to close', async () => {
  await threads().close()
  counter(() => {}).close()
})
