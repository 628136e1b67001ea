import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { EXEMPLAR_CELLS, Exemplar, exemplarWords, readExemplar } from './exemplar.ts'
import { MetricsWriter } from './metrics-writer.ts'

const page = (count: number) =>
  new Float64Array(new SharedArrayBuffer(count * EXEMPLAR_CELLS * Float64Array.BYTES_PER_ELEMENT))

test('what is written is read, and its neighbours stay as they are', () => {
  const words = exemplarWords(page(3), 0, 3)
  const ids = { traceId: 'ffffffff80000000000000007fffffff', spanId: '0000000000000001' }
  new Exemplar(ids, 1_800_000_000_000.5).write(words, 1, -0.1)
  expect([0, 1, 2].map((slot) => readExemplar(words, slot))).toEqual([
    undefined,
    { ...ids, timeMs: 1_800_000_000_000.5, value: -0.1 },
    undefined,
  ])
})

test('one that is being written is not read', () => {
  const words = exemplarWords(page(1), 0, 1)
  new Exemplar({ traceId: '1'.repeat(32), spanId: '2'.repeat(16) }, 1).write(words, 0, 1)
  Atomics.add(words, 0, 1)
  expect(readExemplar(words, 0)).toBeUndefined()
})

test('a reader never sees parts of two exemplars while a worker writes', async () => {
  const cells = page(1)
  const words = exemplarWords(cells, 0, 1)
  const code = `
    import { workerData } from 'node:worker_threads'
    const { Exemplar, exemplarWords } = await import(workerData.module)
    const words = exemplarWords(new Float64Array(workerData.buffer), 0, 1)
    const all = Array.from('123456789', (digit) => [Number(digit), new Exemplar({ traceId: digit.repeat(32), spanId: digit.repeat(16) }, Number(digit))])
    for (let i = 0; i < 300_000; i++) all[i % 9][1].write(words, 0, all[i % 9][0])
  `
  const workerData = { module: new URL('exemplar.ts', import.meta.url).href, buffer: cells.buffer }
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), { workerData })
  let running = true
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve())).then(() => {
    running = false
  })
  while (running) {
    for (let i = 0; i < 1000; i++) {
      const exemplar = readExemplar(words, 0)
      if (exemplar === undefined) continue
      const digit = String(exemplar.value)
      expect(exemplar).toEqual({
        traceId: digit.repeat(32),
        spanId: digit.repeat(16),
        timeMs: exemplar.value,
        value: exemplar.value,
      })
    }
    await new Promise(setImmediate)
  }
  await ended
  expect(readExemplar(words, 0)).toBeDefined()
})

test('memory for exemplars is taken when a series has its first', () => {
  const updates: string[] = []
  const writer = new MetricsWriter((update) => updates.push(...Object.keys(update)))
  const series = writer.series('handshakes', ['b', 'g', 'l', 'https'])
  series.observe(1)
  expect(updates).toEqual(['page', 'series'])
  const exemplar = new Exemplar({ traceId: '1'.repeat(32), spanId: '2'.repeat(16) }, 1)
  for (let i = 0; i < 3; i++) series.observe(1, exemplar)
  expect(updates).toEqual(['page', 'series', 'exemplars'])
})
